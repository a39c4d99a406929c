import { connect, type TLSSocket } from 'node:tls'

/**
 * Uploads over TLS, as a process: `upload.ts {port} {seconds} {bytes} {heads as JSON}`, one connection per head, each with one
 * request under way; `wrk` sends no large bodies over TLS. Sends the number of answers and the elapsed seconds over IPC.
 */
const [port, seconds, bytes] = process.argv.slice(2, 5).map(Number) as [number, number, number]
const body = Buffer.alloc(bytes, 'x')
const sockets = await Promise.all((JSON.parse(process.argv[5] ?? '[]') as string[]).map(open))
let units = 0
const started = performance.now()
for (const each of sockets) upload(each)
setTimeout(() => {
  process.send?.({ units, seconds: (performance.now() - started) / 1000 })
  process.disconnect()
  for (const { socket } of sockets) socket.destroy()
}, seconds * 1000)

interface Uploader {
  readonly socket: TLSSocket
  readonly head: string
}

function open(head: string): Promise<Uploader> {
  return new Promise((resolve, reject) => {
    // The certificate is the bench's own.
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
    const socket: TLSSocket = connect(options, () => resolve({ socket, head }))
    socket.on('error', reject)
  })
}

function upload({ socket, head }: Uploader): void {
  let answer = ''
  const send = () => {
    socket.write(head, 'latin1')
    socket.write(body)
  }
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
    if (!isWhole(answer)) return
    if (!answer.startsWith('HTTP/1.1 2')) throw new Error(`an upload was answered with ${answer.slice(0, 200)}`)
    answer = ''
    units++
    send()
  })
  socket.on('close', () => {
    if (process.connected) throw new Error('the connection of an upload was cut')
  })
  send()
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /^content-length: *(\d+)\r$/im.exec(answer.slice(0, end + 2))?.[1]
  return answer.length >= end + 4 + Number(length ?? 0)
}
