import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { containerToolFolder } from '#/engines/container-tool.ts'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, type Berth, type BerthOptions, type Lifetime, type Person } from '#test/support/berth.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { freePort } from '#test/support/free-port.ts'
import { waitLimit } from '#test/support/extent.ts'

/** A Berth with its SSH server, and Debian's OpenSSH client. */
export interface SshRig {
  readonly berth: Berth
  /** A folder of this test, with keys and `known_hosts`. */
  readonly folder: string
  readonly port: number
  /** Makes a key pair. @returns the file of the private key */
  makeKey(name: string, ...options: string[]): string
  /** Line of the public key. */
  publicKey(file: string): string
  /**
   * A person with a container that has what SSH needs: the first one of an installation may have been made before that
   * was in its volume.
   */
  signUp(email: string): Promise<Person>
  /** Gives a person a key. @returns its id */
  addKey(person: Person, file: string): Promise<number>
  /** Options of a client that has this key, and nothing of the machine's own configuration. */
  options(key: string): string[]
  /** Runs a client to its end. @param program `ssh`, `scp`, `sftp` */
  run(program: string, args: readonly string[], input?: string | Buffer): Promise<Ended>
  /** Starts one that is talked with. */
  start(program: string, args: readonly string[]): ChildProcessWithoutNullStreams
}

export interface Ended {
  readonly code: number | null
  readonly output: Buffer
  readonly errors: string
}

export async function startSsh(lifetime: Lifetime, options: BerthOptions = {}): Promise<SshRig> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-ssh-'))
  const berth = await startBerth(lifetime, {
    ...options,
    env: { SSH_LISTEN: `127.0.0.1:${await freePort()}`, ...options.env },
  })
  lifetime.after(async () => rmSync(folder, { recursive: true }))
  const { port, line } = await listening(berth)
  const known = path.join(folder, 'known_hosts')
  writeFileSync(known, `${line.replace(/^\S+/, `[127.0.0.1]:${port}`)}\n`)
  const fixed = [
    '-F',
    '/dev/null',
    '-o',
    `UserKnownHostsFile=${known}`,
    '-o',
    'BatchMode=yes',
    '-o',
    'IdentityAgent=none',
  ]
  const rig: SshRig = {
    berth,
    folder,
    port,
    makeKey: (name, ...more) => {
      const file = path.join(folder, name)
      execFileSync('ssh-keygen', ['-q', '-N', '', '-f', file, '-C', `${name}@desk`, ...more])
      return file
    },
    publicKey: (file) => readFileSync(`${file}.pub`, 'utf8'),
    signUp: async (email) => {
      const person = await berth.signUp(email)
      const name = `${berth.installation}-${email.replace(/@.*/, '')}-dev`
      const { Mounts: mounts } = await askEngine<{ Mounts: { Destination: string }[] }>(
        'GET',
        `/containers/${name}/json`,
      )
      if (!mounts.some(({ Destination: folder }) => folder === containerToolFolder))
        assertOk(await person.call('POST', '/api/container/restart/dev', { body: {} }))
      return person
    },
    addKey: async (person, file) => {
      const reply = await person.call('POST', '/api/user/ssh-keys', { body: { title: '', key: rig.publicKey(file) } })
      assertOk(reply)
      return reply.body.id as number
    },
    options: (key) => [...fixed, '-o', 'IdentitiesOnly=yes', '-i', key],
    run: async (program, args, input) => {
      const child = spawn(program, args)
      const limit = setTimeout(() => child.kill('SIGKILL'), waitLimit(60_000))
      child.stdin.on('error', () => undefined)
      if (input !== undefined) child.stdin.end(input)
      else child.stdin.end()
      const ended = new Promise<number | null>((resolve) => void child.on('close', resolve))
      const [output, errors, code] = await Promise.all([buffer(child.stdout), buffer(child.stderr), ended])
      clearTimeout(limit)
      return { code, output, errors: errors.toString() }
    },
    start: (program, args) => spawn(program, args),
  }
  return rig
}

/** `ssh` with the usual options of a rig. */
export const sshArgs = (rig: SshRig, key: string, name: string, ...more: string[]): string[] => [
  ...rig.options(key), '-p', String(rig.port), `${name}@127.0.0.1`, ...more,
] // prettier-ignore

/** The server is started beside the rest. */
async function listening(berth: Berth): Promise<{ port: number; line: string }> {
  const end = performance.now() + waitLimit(20_000)
  for (;;) {
    const { body } = await berth.call('GET', '/api/ssh')
    if (berth.logs.some((each) => each.includes('the SSH server listens')))
      return { port: body.port as number, line: body.host_keys[0] as string }
    assert.ok(performance.now() < end, 'the SSH server does not listen')
    await sleep(50)
  }
}
