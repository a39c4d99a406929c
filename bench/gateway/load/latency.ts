import { connect, type Socket } from 'node:net'

/**
 * GETs at a fixed rate, whatever the answers take, as a process: `latency.ts {port} {seconds} {rate} {heads as JSON}`.
 * Says every latency, in microseconds from just before the write to the last byte, over IPC.
 *
 * The timer of Node wakes once per millisecond and sends what is due by then; a loop that never sleeps would be more even,
 * but would keep the backend on the same core from its work. Lateness of the timer is not counted: it is the bench's own.
 */
const [port, seconds, rate] = process.argv.slice(2, 5).map(Number) as [number, number, number]
const heads = JSON.parse(process.argv[5] ?? '[]') as string[]
const microseconds: number[] = []
const idle: Socket[] = []
const waiting: number[] = []
let sent = 0

for (let each = 0; each < 16; each++) idle.push(await open())
for (let each = 0; each < 500; each++) await new Promise<void>((resolve) => ask(resolve))
microseconds.length = 0

const started = performance.now()
const timer = setInterval(() => {
  const due = ((performance.now() - started) / 1000) * rate
  for (; sent < due; sent++) ask()
  if (due < seconds * rate) return
  clearInterval(timer)
  // Half a second for the last responses: a slower one is missing from the result.
  setTimeout(() => {
    process.send?.({ sent, microseconds })
    process.disconnect()
    for (const socket of idle) socket.destroy()
  }, 500)
}, 1)

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject)
  })
}

/**
 * When every connection is in use, a request waits for one, and the wait counts: real clients do not slow down either.
 */
function ask(done?: () => void): void {
  const begun = performance.now()
  const socket = idle.pop()
  if (socket) send(socket, begun, done)
  else waiting.push(begun)
}

function send(socket: Socket, begun: number, done?: () => void): void {
  socket.on('data', function take(chunk: Buffer) {
    if (!chunk.includes('hello, world\n')) return
    microseconds.push((performance.now() - begun) * 1000)
    socket.off('data', take)
    const next = waiting.shift()
    if (next === undefined) idle.push(socket)
    else send(socket, next)
    done?.()
  })
  socket.write(heads[microseconds.length % heads.length] ?? '', 'latin1')
}
