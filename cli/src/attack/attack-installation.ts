import { createReadStream, existsSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '@berth/server/config/config.ts'
import type { HostReport } from '@berth/server/engines/runtime.ts'
import type { RunningContainer } from '@berth/server/engines/trial-engine.ts'
import { Templates, type Template } from '@berth/server/templates/template.ts'
import { withSignal } from '@berth/server/machine/try-or-log.ts'
import type { Level } from '#/doctor/check.ts'
import { openTrialInstallation, type RequestOptions, type TrialUser } from '#/try/trial-installation.ts'

/** A user of the installation, signed in. */
export interface AttackUser {
  readonly token: string
  /** Prefix of the container: `/mallory-attack`. */
  readonly prefix: string
}

/** A second Berth in this process, with the operator's settings and template, and two users. */
export interface AttackInstallation {
  /** Settings of the operator. */
  readonly config: Config
  /** Template that the containers are made from. */
  readonly template: Template
  /** `http://127.0.0.1:{port}` */
  readonly url: string
  /** Has the hostile container. */
  readonly attacker: AttackUser
  /** Is an administrator, and has a container, too. */
  readonly victim: AttackUser
  /** Running containers of this and every other installation, without the hostile one. */
  neighbours(): Promise<RunningContainer[]>
  host(): Promise<HostReport>
  /** A request with the cookie of a token; redirects are not followed. */
  fetch(target: string, token: string | null, options?: RequestOptions): Promise<Response>
  /** Has the hostile program do something. @returns its answer @throws when it does not answer */
  order<T>(order: object, signal: AbortSignal): Promise<T>
  /** Removes everything. @throws what could not be removed */
  close(): Promise<void>
}

const type = 'attack'
const port = 8080

/**
 * Starts it: image, store, API, gateway on the loopback interface, two users with a running container each.
 * @param template of the operator; image, command and port are replaced
 * @throws what fails; nothing is left then
 */
export async function openAttackInstallation(
  config: Config,
  template: Template,
  log: Logger,
  signal: AbortSignal,
): Promise<AttackInstallation> {
  // For everyone: the groups of the installation are in its own store, and this one has none.
  const hostile = { ...template, type, command: hostileCommand, port, groups: [] }
  const settings = (image: string): Partial<Config> => ({
    // What is tried at the origin is about the one that all containers share.
    containerRouting: 'path',
    // What protects cookies depends on it; the listener speaks plain HTTP all the same.
    scheme: config.scheme,
    sshListen: config.sshListen && { host: '127.0.0.1', port: 0, text: '127.0.0.1:0' },
    templates: new Templates([{ ...hostile, image }]),
  })
  const trial = await openTrialInstallation({ purpose: type, config, settings, archive: attackImage }, log, signal)
  const { app, engine, runtime, fetch, close } = trial
  try {
    const user = ({ token, slug }: TrialUser): AttackUser => ({ token, prefix: `/${slug}-${type}` })
    // The first user is an administrator.
    const victim = user(await trial.signUp('alice'))
    const attacker = user(await trial.signUp('mallory'))
    const order = async <T>(given: object, until: AbortSignal) => {
      const target = `${attacker.prefix}/order?order=${Buffer.from(JSON.stringify(given)).toString('base64url')}`
      const response = await withSignal(fetch(target, attacker.token), until)
      if (response.status !== 200) throw new Error(`the hostile container answers ${response.status}`)
      return (await response.json()) as T
    }
    await untilListening(() => order({ verb: 'describe' }, signal), signal)
    // Only now it surely has an address: it is no neighbour of its own.
    const own = (await runtime.list()).find(({ owner }) => owner?.slug === 'mallory')?.address
    if (!own) throw new Error('the engine does not list the hostile container')
    const neighbours = async () => (await engine.running()).filter(({ address }) => address !== own)
    const url = `http://127.0.0.1:${app.port}`
    const users = { attacker, victim }
    const asked = { neighbours, order, fetch, host: () => runtime.host() }
    return { config, template: hostile, url, ...users, ...asked, close }
  } catch (error) {
    await close().catch(() => undefined)
    throw error
  }
}

/** In ms: a program needs minutes to begin on a machine that is emulated, or has much else to do. */
const startTimeout = 300_000

/** Asks again until there is an answer. @throws what asking threw last · the reason of the signal */
async function untilListening(ask: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + startTimeout; ; await sleep(1_000, undefined, { signal })) {
    try {
      await ask()
      return
    } catch (error) {
      signal.throwIfAborted()
      if (performance.now() > end) throw error
    }
  }
}

/** What the hostile container got by one attempt. */
export interface Loot {
  readonly level: Level
  /** One sentence: what it got, and what that means. */
  readonly what: string
  readonly fix: string
}

/** Result of an attempt: what it got, and what was tried for it in a few words. */
export interface Outcome {
  readonly got: readonly Loot[]
  /** End of the line "nothing: ...". */
  readonly tried: string
}

/** One thing that a hostile container tries. */
export interface Attempt {
  /** Of one or two words, as the report names it. */
  readonly name: string
  /**
   * @param signal aborted at the time limit and by Ctrl-C
   * @throws when it could not be tried; the message says why
   */
  readonly run: (installation: AttackInstallation, signal: AbortSignal) => Promise<Outcome>
}

const programInImage = '/attack/hostile-app.ts'

/** Runs it in a container. */
export const hostileCommand: readonly string[] = ['/attack/node', programInImage]

/** Bytes of a block of a tar archive. */
const block = 512

/**
 * A root file system from files of this machine, as a tar archive: this Node with its libraries, `sleep` if there is one,
 * and the hostile program. So the attack needs no registry.
 */
export async function* attackImage(): AsyncGenerator<Uint8Array> {
  const program = path.join(import.meta.dirname, 'hostile-app.ts')
  const files: [source: string, target: string][] = [
    [process.execPath, '/attack/node'],
    [program, programInImage],
    ...librariesOfNode().map((file): [string, string] => [file, file]),
    ...['/bin/sleep', '/usr/bin/sleep']
      .filter((file) => existsSync(file))
      .slice(0, 1)
      .map((file): [string, string] => [file, '/attack/sleep']),
  ]
  for (const folder of foldersOf(files)) yield headerOf(`${folder.slice(1)}/`, 0, 0o755, '5')
  for (const folder of ['tmp/', 'home/']) yield headerOf(folder, 0, 0o1777, '5')
  for (const [source, target] of files) {
    const { size } = statSync(source)
    yield headerOf(target.slice(1), size, 0o755, '0')
    yield* createReadStream(realpathSync(source)) as AsyncIterable<Uint8Array>
    yield Buffer.alloc((block - (size % block)) % block)
  }
  yield Buffer.alloc(2 * block)
}

/** Files that the loader opened for this very process; the kernel's own (vdso) has no path. */
function librariesOfNode(): string[] {
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] }
  return sharedObjects.filter((file) => file.startsWith('/') && !file.endsWith('.node') && existsSync(file))
}

/** Parents first; `tmp` and `home` come with their own modes. */
function foldersOf(files: readonly (readonly [string, string])[]): string[] {
  const found = new Set<string>()
  for (const [, target] of files)
    for (let folder = path.dirname(target); folder !== '/'; folder = path.dirname(folder)) found.add(folder)
  return [...found].sort()
}

/** Header of a file or folder. Source: POSIX.1-2017, pax, "ustar Interchange Format". */
function headerOf(name: string, size: number, mode: number, kind: '0' | '5'): Buffer {
  if (name.length > 100) throw new Error(`the path ${name} is too long for the image of the attack`)
  const header = Buffer.alloc(block)
  const octal = (number: number, length: number) => `${number.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        ', 148)
  header.write(kind, 156)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
