/**
 * What users notice while Berth is upgraded: `node - <address> <token> <path of a container> <seconds>`. Opens a stream that
 * ticks and a WebSocket, asks the API and the container every 20 ms, and prints JSON at the end: the longest gap in ms between two
 * answers of the API and of the container, and whether stream and WebSocket were open all the time.
 */
import { createHash, randomBytes } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const [, , base = '', token = '', place = '', seconds = '10'] = process.argv
const headers = { authorization: `Bearer ${token}` }
const end = performance.now() + Number(seconds) * 1000

const [stream, socket] = await Promise.all([openStream(), openWebSocket()])
console.log('observing')
const [api, container] = await Promise.all([
  longestGap(
    async () => (await fetch(`${base}/api/user/me`, { headers, signal: AbortSignal.timeout(2_000) })).status === 200,
  ),
  longestGap(
    async () => (await fetch(`${base}${place}`, { headers, signal: AbortSignal.timeout(2_000) })).status === 200,
  ),
])
const result = {
  apiGap: api,
  containerGap: container,
  streamGap: stream.gap(),
  isStreamOpen: stream.isOpen(),
  isSocketOpen: await socket.echoes(),
}
console.log(JSON.stringify(result))
process.exit(0)

/** @param {() => Promise<boolean>} ask */
async function longestGap(ask) {
  let [last, longest] = [performance.now(), 0]
  while (performance.now() < end) {
    if (await ask().catch(() => false)) {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
    await sleep(20)
  }
  return Math.round(Math.max(longest, performance.now() - last))
}

async function openStream() {
  const response = await fetch(`${base}${place}ticks`, { headers })
  if (response.status !== 200) throw new Error(`the stream answered ${response.status}`)
  let [isOpen, last, longest] = [true, performance.now(), 0]
  const read = async () => {
    for await (const _ of response.body ?? []) {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
  }
  void read()
    .catch(() => {})
    .finally(() => (isOpen = false))
  return { isOpen: () => isOpen, gap: () => Math.round(longest) }
}

async function openWebSocket() {
  const key = randomBytes(16).toString('base64')
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  }
  const asked = http.get(`${base}${place}`, { headers: { ...headers, ...upgrade } })
  /** @type {import('node:stream').Duplex} */
  const socket = await new Promise((done, fail) => {
    asked.once('upgrade', (response, opened) => {
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      if (response.headers['sec-websocket-accept'] === accept) done(opened)
      else fail(new Error('another WebSocket answered'))
    })
    asked.once('response', ({ statusCode }) => fail(new Error(`the WebSocket was answered ${statusCode}`)))
    asked.once('error', fail)
  })
  socket.on('error', () => {})
  const echoes = async () => {
    // A masked text frame; the container sends it back byte by byte.
    const frame = Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b])
    const heard = new Promise((done) => socket.once('data', (data) => done(frame.equals(data))))
    if (socket.destroyed || !socket.writable) return false
    socket.write(frame)
    return Promise.race([heard, sleep(2_000).then(() => false)])
  }
  if (!(await echoes())) throw new Error('the WebSocket does not echo')
  return { echoes }
}
