import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { after, test, type TestContext } from 'node:test'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { checkSsh } from '@berth/cli/doctor/check-ssh.ts'
import ssh2 from 'ssh2'
import { hostKeyFrom } from '#/ssh/host-key.ts'
import { SshServer } from '#/ssh/process/ssh-listener.ts'
import { contextFor, inWords } from './check-context.ts'

/** What `berth doctor` says of the SSH server: of Berth's own nothing, of each weakened one a line. */

const { signal } = new AbortController()
const service = { warnings: [] } as unknown as SystemReport
const sentences = { lost: '', missing: '' }
const unused = () => Promise.reject(new Error('nobody proves anything'))
const own = new SshServer({
  mayUse: unused,
  begin: unused,
  open: unused,
  wake: unused,
  reportUse: () => undefined,
  end: () => undefined,
  reportFailure: () => undefined,
  report: () => undefined,
})
const hostKey = hostKeyFrom(Buffer.alloc(32, 1)).privateText
const engine = { kind: 'docker', installation: 'berth', dockerHost: undefined, network: 'berth' } as const
const ownPort = await own.serve({ host: '127.0.0.1', port: 0, hostKey, sentences, engine }, { exec: unused }, sentences)
after(() => own.stop(''))

const found = async (t: TestContext, port: number, settings = {}, isRunning = true) => {
  const context = contextFor(t, { SSH_LISTEN: `127.0.0.1:${port}`, ...settings }, isRunning ? { service } : {})
  return inWords(await checkSsh(context, signal))
}

/** A server that is no TLS and no HTTP, on a port of its own. */
async function serve(t: TestContext, text: string): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => undefined).end(text)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return (server.address() as AddressInfo).port
}

test('of the SSH server as it is nothing is found, and without the setting nothing is looked for', async (t) => {
  assert.equal(await found(t, ownPort), '')
  assert.deepEqual(await checkSsh(contextFor(t, {}, { service }), signal), [])
})

test('a server that does not answer while Berth runs, or is another program, is critical', async (t) => {
  const gone = await serve(t, '')
  assert.match(
    await found(t, gone),
    /^critical: No SSH server answers at SSH_LISTEN=127\.0\.0\.1:\d+ while Berth runs\.$/,
  )
  const other = await serve(t, 'SSH-2.0-OpenSSH_9.2\r\n')
  assert.match(await found(t, other), /^critical: Another program than Berth answers .*\(SSH-2\.0-OpenSSH_9\.2\)/)
})

test('a server that offers broken algorithms to weak clients is critical', async (t) => {
  const weak = new ssh2.Server({
    hostKeys: [hostKey],
    ident: 'Berth',
    algorithms: { kex: ['curve25519-sha256', 'diffie-hellman-group14-sha1'], cipher: ['aes128-ctr', 'aes128-cbc'] },
  })
  weak.on('connection', (client) => void client.on('error', () => undefined))
  weak.listen(0, '127.0.0.1')
  await once(weak, 'listening')
  t.after(() => weak.close())
  const words = await found(t, (weak.address() as AddressInfo).port)
  assert.match(words, /^critical: .* offers what is broken \(diffie-hellman-group14-sha1.*aes128-cbc/)
})

test('a port that is not reached under the name of the installation is a warning', async (t) => {
  // No machine has this address (RFC 5737).
  const words = await found(t, ownPort, { BASE_DOMAIN: '192.0.2.1', SPAWNER_SUBDOMAIN: '' })
  assert.match(words, /^warning: The SSH server is not reached as 192\.0\.2\.1, port \d+/)
})

test('a port that another program has is critical before Berth starts', async (t) => {
  assert.match(
    await found(t, ownPort, {}, false),
    /^critical: Berth cannot listen on 127\.0\.0\.1, port \d+ \(EADDRINUSE\)/,
  )
})

test('a server whose host key is the one that clients are told is a hint with its fingerprint, another one is critical', async (t) => {
  const lineOf = (seed: number) => `[127.0.0.1]:${ownPort} ${hostKeyFrom(Buffer.alloc(32, seed)).publicText}`
  const fingerprint = (seed: number) =>
    execFileSync('ssh-keygen', ['-lf', '-'], { input: hostKeyFrom(Buffer.alloc(32, seed)).publicText })
      .toString()
      .split(' ')[1] ?? ''
  const foundWith = (seed: number) =>
    checkSsh(contextFor(t, { SSH_LISTEN: `127.0.0.1:${ownPort}` }, { service, sshHostKeys: [lineOf(seed)] }), signal)
  const [own, ...others] = await foundWith(1)
  assert.deepEqual([own?.level, others], ['hint', []])
  assert.ok(own?.what.includes(fingerprint(1)), own?.what)
  assert.ok(own?.fix.includes(lineOf(1)))
  const [changed] = await foundWith(2)
  assert.equal(changed?.level, 'critical')
  assert.ok(changed.what.includes(fingerprint(1)) && changed.what.includes(fingerprint(2)), changed.what)
})
