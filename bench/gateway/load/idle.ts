import type { Socket } from 'node:net'
import { openWebSocket } from './web-socket.ts'

/**
 * Idle WebSockets, as a process: `idle.ts {port} {count} {heads as JSON}`. Sends `{open}` over IPC when they are open,
 * and the number still open on each request.
 */
const [port, count] = process.argv.slice(2, 4).map(Number) as [number, number]
const heads = JSON.parse(process.argv[4] ?? '[]') as string[]
/** More at once would only test the proxy's backlog. */
const atOnce = 100

const sockets: Socket[] = []
while (sockets.length < count) {
  const batch = Array.from({ length: Math.min(atOnce, count - sockets.length) }, (_, index) =>
    openWebSocket(port, heads[(sockets.length + index) % heads.length] ?? ''),
  )
  sockets.push(...(await Promise.all(batch)))
}
let open = sockets.length
for (const socket of sockets) {
  socket.on('close', () => open--)
  // Reading detects that the peer has closed.
  socket.resume()
}
process.send?.({ open })
process.on('message', () => process.send?.({ open }))
process.once('disconnect', () => process.exit(0))
