import assert from 'node:assert/strict'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { requestHead } from '#test/support/gateway/http-text.ts'
import { echoApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { generateAnswer } from './generate-response.ts'
import { generateRequests } from './generate-request.ts'
import { readAnswerAsWe } from './gateway-parser.ts'
import { caseSeed, Random } from './random.ts'
import { extent } from '#test/support/extent.ts'

const seed = 20_251_121
const cases = extent(100, 300)
/**
 * For how many pauses of 5 ms nothing may come until an exchange counts as over: at first, and after some bytes. Not
 * for how long: client, gateway and app share this process, so that on a slow machine each pause is as much longer as
 * their work is.
 */
const [maxPauses, quiet] = [300, 100]

/** Sends bytes in pieces and collects what comes back, until the connection ends or nothing comes any more. */
async function exchanged(port: number, pieces: readonly Buffer[]): Promise<string> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => {})
  let received = ''
  let pauses = 0
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('latin1')
    pauses = 0
  })
  for (const piece of pieces) {
    socket.write(piece)
    await nextTurn()
  }
  for (
    pauses = 0;
    !socket.destroyed && !socket.readableEnded && pauses < (received === '' ? maxPauses : quiet);
    pauses++
  )
    await sleep(5)
  socket.destroy()
  return received
}

/** Long enough for bytes that were written to be seen alone, most often. */
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function cut(text: string, random: Random): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const pieces: Buffer[] = []
  const max = random.oneOf([5, 20, 60, 400])
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random.below(max)
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

async function inParallel<T>(all: readonly T[], max: number, work: (one: T) => Promise<void>): Promise<void> {
  const left = [...all]
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: max }, worker))
}

const seeds = (count: number) => Array.from({ length: count }, (_, index) => caseSeed(seed, index))
/** What apps have received, as the echo app tells it: connections to apps differ, so only what identifies a request counts. */
const echoes = (text: string) =>
  [...text.matchAll(/"method":"([^"]*)","url":"([^"]*)".*?"body":"((?:[^"\\]|\\.)*)"/g)].map((match) => match.slice(1))

test(`${cases} generated streams of requests reach the app as the same requests, however their bytes arrive`, async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'public' } })
  let accepted = 0
  await inParallel(seeds(cases), 30, async (one) => {
    const random = new Random(one)
    const last = requestHead('GET /ann-dev/last HTTP/1.1')
    const text = generateRequests(random, ['/ann-dev/', '/ann-dev/a?b', '/ann-dev/x/../y']) + last
    const whole = echoes(await exchanged(port, [Buffer.from(text, 'latin1')]))
    const inPieces = echoes(await exchanged(port, cut(text, random)))
    accepted += whole.length
    assert.deepEqual(inPieces, whole, `case ${one}: ${JSON.stringify(text)}`)
  })
  assert.ok(accepted > (cases * 2) / 3, `only ${accepted} requests were accepted`)
})

test(`${cases} generated answers are the same to the client, however their bytes arrive`, async (t) => {
  let pieces: readonly Buffer[] = []
  const app = net.createServer((socket) => {
    const mine = pieces
    socket.on('error', () => {})
    socket.once('data', async () => {
      for (const piece of mine) {
        socket.write(piece)
        await nextTurn()
      }
      socket.end()
    })
  })
  const { port } = await startGatewayHarness(t, app)
  const ask = (next: readonly Buffer[]) => {
    pieces = next
    return exchanged(port, [Buffer.from(requestHead('GET /ann-dev/ HTTP/1.1', `X-Own: ${Object.keys(ann).length}`))])
  }
  let passed = 0
  // One after the other: what the app says belongs to the only request there is.
  for (const one of seeds(cases)) {
    const random = new Random(one)
    const text = generateAnswer(random)
    const { messages, end } = readAnswerAsWe(Buffer.from(text, 'latin1'), 'GET', random)
    const inPieces = await ask(cut(text, random))
    // A malformed answer is refused or cut, whichever is still possible when it shows.
    if (end !== 'closed' || !messages.at(-1)?.isComplete) continue
    passed++
    const whole = await ask([Buffer.from(text, 'latin1')])
    assert.equal(inPieces, whole, `case ${one}: ${JSON.stringify(text)}`)
  }
  assert.ok(passed > cases * 0.33, `only ${passed} answers were passed on`)
})
