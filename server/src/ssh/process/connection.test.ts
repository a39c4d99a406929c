import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { after, test } from 'node:test'
import ssh2, { type ClientChannel } from 'ssh2'
import type { ExecProcess } from '#/engines/runtime.ts'
import { hostKeyFrom } from '#/ssh/host-key.ts'
import type { OpenedContainer, SshControl } from '#/ssh/ssh-protocol.ts'
import { SshServer } from './ssh-listener.ts'

/** The container of a session, which may take long to start. */
let opened = Promise.withResolvers<OpenedContainer>()
/** For each start that the engine was asked for, how it answers. */
let starts: ((program: ExecProcess) => void)[] = []
/** Id of the container; starts in those of earlier tests end at once. */
let containerId = ''

const control: SshControl = {
  mayUse: async () => true,
  begin: async () => ({ session: 1 }),
  open: () => opened.promise,
  wake: async () => undefined,
  reportUse: () => undefined,
  end: () => undefined,
  reportFailure: () => undefined,
  report: (problem) => assert.fail(problem),
}
const server = new SshServer(control)
const sentences = { lost: 'lost', missing: 'missing' }
const engine = { kind: 'docker', installation: 'berth', dockerHost: undefined, network: 'berth' } as const
const hostKey = hostKeyFrom(Buffer.alloc(32, 1)).privateText
const port = await server.serve(
  { host: '127.0.0.1', port: 0, hostKey, sentences, engine },
  { exec: async (id) => (id === containerId ? new Promise((resolve) => void starts.push(resolve)) : idleProgram()) },
  sentences,
)
after(() => server.stop('over'))
const { privateText: privateKey } = hostKeyFrom(Buffer.alloc(32, 2))

/** Connects a client. */
async function connect(container: 'runs' | 'starts') {
  containerId += 'x'
  for (const answer of starts) answer(idleProgram())
  starts = []
  opened = Promise.withResolvers()
  if (container === 'runs') opened.resolve({ containerId, home: '' })
  const client = new ssh2.Client().connect({ host: '127.0.0.1', port, username: 'ann-dev', privateKey })
  await once(client, 'ready')
  return client
}

/** Begins a command. @returns undefined when its channel is refused */
const begin = (client: ssh2.Client) =>
  new Promise<ClientChannel | undefined>((resolve) =>
    client.exec('x', (error, channel) => resolve(error ? undefined : channel)),
  )

async function closed(channel: ClientChannel): Promise<void> {
  const ended = once(channel, 'close')
  channel.resume().close()
  await ended
}

/** A program that does not read, and is not known to the container when its connection ends. */
function idleProgram(): ExecProcess {
  const stream = new Duplex({ read: () => undefined, write: () => undefined })
  return { stream, ended: Promise.resolve({ code: 127, errors: '' }) }
}

test('a channel that is closed keeps its place until the engine has answered the start of its program', async (t) => {
  const client = await connect('runs')
  t.after(() => client.destroy())
  let [channel, taken] = [await begin(client), 0]
  for (; channel && taken < 30; taken++) {
    await closed(channel)
    channel = await begin(client)
  }
  assert.equal(taken, 10)
  for (let answered = 0; !channel; channel = await begin(client))
    for (; answered < starts.length; answered++) starts[answered]?.(idleProgram())
})

// Each takes up to 100 ms of a core, and one person may have 740 channels: all were started at once.
test('of one container four programs are started at a time', async (t) => {
  const client = await connect('runs')
  t.after(() => client.destroy())
  for (let n = 0; n < 10; n++) assert.ok(await begin(client))
  assert.equal(starts.length, 4)
  starts[0]?.(idleProgram())
  while (starts.length < 5) await new Promise(setImmediate)
  assert.equal(starts.length, 5)
})

test('of a channel that was closed while its container started no program is started', async (t) => {
  const client = await connect('starts')
  t.after(() => client.destroy())
  const channel = await begin(client)
  assert.ok(channel)
  await closed(channel)
  const other = await begin(client)
  opened.resolve({ containerId, home: '' })
  while (starts.length === 0) await new Promise(setImmediate)
  assert.ok(other)
  await closed(other)
  assert.equal(starts.length, 1)
})

test('input that no program reads any more does not hold the connection', async (t) => {
  const client = await connect('runs')
  t.after(() => client.destroy())
  for (let n = 0; n < 6; n++) {
    const channel = await begin(client)
    assert.ok(channel)
    while (starts.length <= n) await new Promise(setImmediate)
    const program = idleProgram()
    starts[n]?.(program)
    // As much as the window of a channel lets through.
    await new Promise((resolve) => void channel.write(Buffer.alloc(2_000_000), resolve))
    const ended = once(channel, 'close')
    program.stream.destroy()
    channel.resume().stderr.resume()
    await ended
  }
})
