import type { Socket } from 'node:net'
import { frame, maskedFrame, openWebSocket } from './web-socket.ts'

/**
 * WebSockets in ping-pong, each with one text under way, as a process: `echo.ts {port} {seconds} {heads as JSON}`, one
 * connection per head. Sends the number of echoes and the elapsed seconds over IPC.
 */
const [port, seconds, heads] = [Number(process.argv[2]), Number(process.argv[3]), process.argv[4] ?? '[]']
const sockets = await Promise.all((JSON.parse(heads) as string[]).map((head) => openWebSocket(port, head)))
let units = 0
const started = performance.now()
for (const socket of sockets) playWith(socket)
setTimeout(() => {
  process.send?.({ units, seconds: (performance.now() - started) / 1000 })
  process.disconnect()
  for (const socket of sockets) socket.destroy()
}, seconds * 1000)

function playWith(socket: Socket): void {
  let waiting = 0
  socket.on('data', (chunk: Buffer) => {
    waiting += chunk.length
    if (waiting < frame.length) return
    waiting -= frame.length
    units++
    socket.write(maskedFrame)
  })
  socket.on('close', () => {
    if (process.connected) throw new Error('a WebSocket was cut')
  })
  socket.write(maskedFrame)
}
