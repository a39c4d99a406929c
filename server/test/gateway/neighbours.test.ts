import assert from 'node:assert/strict'
import { once } from 'node:events'
import net, { type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { onlyLong } from '#test/support/extent.ts'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf, keptHead, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { listen, okResponse, rawApp } from '#test/support/gateway/test-apps.ts'
import { bobToken } from '#test/support/gateway/tokens.ts'

/**
 * What one person's bytes cost another. Everything runs in this process, so that a slow machine makes the same bytes in large pieces as
 * slow as those in small ones.
 */
const maxRatio = 3
const rounds = 3
const gets = 11
/** What a GET may take, in ms; what takes longer counts as this, and ends the round. */
const overdue = 3_000
const blockSize = 1_048_576

/** The same text again and again, some of it at least. */
const repeated = (text: string, size = blockSize) => Buffer.from(text.repeat(Math.ceil(size / text.length)), 'latin1')

/** Writes a block as often as the other side takes it, until the connection ends. */
function pour(socket: Socket, block: Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.on('drain', write).on('error', () => {})
  write()
}

/** What a person sends, and what the app answers with before it sends without end. */
interface Stream {
  readonly request: string
  readonly answer?: string
  readonly fromClient?: Buffer
  readonly fromApp?: Buffer
}

/** An app that does what the stream of the moment says. */
class StreamedApp {
  stream: Stream = { request: '' }
  readonly server = net.createServer((socket) => {
    const { answer, fromApp } = this.stream
    socket.on('error', () => {})
    socket.once('data', () => {
      if (answer !== undefined) socket.write(answer)
      if (fromApp) pour(socket, fromApp)
      socket.resume()
    })
  })
}

/** The middle duration of GETs by another person, in ms, while so many connections carry the stream. */
async function latencyBeside(port: number, app: StreamedApp, stream: Stream, connections: number): Promise<number> {
  app.stream = stream
  const sockets = Array.from({ length: connections }, () => net.connect(port, '127.0.0.1'))
  const taken = sockets.map(async (socket) => {
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(stream.request, 'latin1')
    if (stream.fromClient) pour(socket, stream.fromClient)
    if (stream.answer !== undefined) await once(socket, 'data', { signal: AbortSignal.timeout(overdue) })
    socket.resume()
  })
  const isFlowing = await Promise.all(taken).then(
    () => true,
    () => false,
  )
  const durations: number[] = isFlowing ? [] : [overdue]
  while (durations.length < gets && !durations.includes(overdue)) durations.push(await durationOfGet(port))
  for (const socket of sockets) socket.destroy()
  return durations.includes(overdue) ? overdue : (durations.toSorted((a, b) => a - b)[gets >> 1] ?? overdue)
}

async function durationOfGet(port: number): Promise<number> {
  const begun = performance.now()
  const socket = net.connect(port, '127.0.0.1')
  const head = [
    'GET /bob-dev/ HTTP/1.1',
    'Host: spawner.test',
    `Authorization: Bearer ${bobToken}`,
    'Connection: close',
  ]
  socket.write(headOf(...head), 'latin1')
  let answer = ''
  socket.on('data', (bytes) => void (answer += bytes.toString('latin1')))
  socket.setTimeout(overdue, () => socket.destroy())
  await once(socket, 'close')
  const duration = Math.min(overdue, performance.now() - begun)
  if (duration < overdue) assert.match(answer, /^HTTP\/1\.1 200 /)
  return duration
}

async function startNeighbours(t: TestContext): Promise<{ port: number; app: StreamedApp }> {
  const app = new StreamedApp()
  const quick = await listen(
    t,
    rawApp((socket) => socket.end(okResponse('ok'))),
  )
  const { port } = await startGatewayHarness(t, app.server, { places: [routeTo('bob-dev', 2, quick)] })
  return { port, app }
}

/** Fails when the small pieces cost the other person more than `maxRatio` times what the large ones do, in two of three rounds. */
async function compare(t: TestContext, small: Stream, large: Stream): Promise<void> {
  const { port, app } = await startNeighbours(t)
  const seen: string[] = []
  let slow = 0
  for (let round = 0; round < rounds && slow < 2; round++) {
    const withLarge = await latencyBeside(port, app, large, 2)
    const withSmall = await latencyBeside(port, app, small, 2)
    seen.push(`${withSmall.toFixed(1)} ms beside small pieces, ${withLarge.toFixed(1)} beside large ones`)
    if (withSmall > maxRatio * withLarge) slow++
    else if (round - slow >= 1) break
  }
  t.diagnostic(seen.join('; '))
  assert.ok(slow < 2, seen.join('; '))
}

const chunkedAnswer = headOf('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked')
const largeChunks = repeated(`10000\r\n${'a'.repeat(65_536)}\r\n`)
const download = (answer: string, fromApp: Buffer, version = '1.1'): Stream => ({
  request: keptHead(`GET /ann-dev/ HTTP/${version}`),
  answer,
  fromApp,
})
const upload = (fromClient: Buffer): Stream => ({
  request: keptHead('POST /ann-dev/ HTTP/1.1', 'Transfer-Encoding: chunked'),
  fromClient,
})
const frames = (...bytes: number[]) => repeated(String.fromCharCode(...bytes))
const largeFrame = repeated(`\x82\x7e\xff\xff${'a'.repeat(65_535)}`)
const largeMasked = repeated(`\x82\xfe\xff\xff\0\0\0\0${'a'.repeat(65_535)}`)
const fromSocket = (fromApp: Buffer): Stream => ({ request: upgradeHead(), answer: switching, fromApp })
const toSocket = (fromClient: Buffer): Stream => ({ request: upgradeHead(), answer: switching, fromClient })

for (const [name, piece, options] of [
  ['chunks of a byte', '1\r\na\r\n', {}],
  ['chunks of a byte with an extension', '1;abcdefghij\r\na\r\n', {}],
  ['chunks of 16 bytes', `10\r\n${'a'.repeat(16)}\r\n`, onlyLong],
] as const) {
  test(`${name} in an answer hold up no other person`, options, (t) =>
    compare(t, download(chunkedAnswer, repeated(piece)), download(chunkedAnswer, largeChunks)),
  )
  test(`${name} in an answer to HTTP/1.0 hold up no other person`, onlyLong, (t) =>
    compare(t, download(chunkedAnswer, repeated(piece), '1.0'), download(chunkedAnswer, largeChunks, '1.0')),
  )
  test(`${name} in a request hold up no other person`, options, (t) =>
    compare(t, upload(repeated(piece)), upload(largeChunks)),
  )
}

test('frames of a byte from an app hold up no other person', (t) =>
  compare(t, fromSocket(frames(0x82, 1, 65)), fromSocket(largeFrame)))
test('empty frames from an app hold up no other person', (t) =>
  compare(t, fromSocket(frames(0x82, 0)), fromSocket(largeFrame)))
test('frames of a byte from a client hold up no other person', (t) =>
  compare(t, toSocket(frames(0x82, 0x81, 0, 0, 0, 0, 65)), toSocket(largeMasked)))
test('pings of a client hold up no other person', (t) =>
  compare(t, toSocket(frames(0x89, 0x80, 0, 0, 0, 0)), toSocket(largeMasked)))

test('requests sent together that the gateway answers by itself hold up no other person', (t) => {
  const none = ['GET /ann-unknown/ HTTP/1.1', 'Host: spawner.test']
  const stream = (...lines: readonly string[]): Stream => {
    const request = headOf(...none, ...lines)
    return { request, fromClient: repeated(request) }
  }
  return compare(t, stream(), stream(`X-Long: ${'a'.repeat(30_000)}`))
})
