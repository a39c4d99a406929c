import type { Socket } from 'node:net'
import { openWebSocket } from './web-socket.ts'

/**
 * WebSockets that stay open and say nothing, as a process: `idle.ts {port} {count} {heads as JSON}`. Says `{open}` over IPC,
 * when they are, and `{open}` again whenever it is asked how many still are.
 */
const [port, count] = process.argv.slice(2, 4).map(Number) as [number, number]
const heads = JSON.parse(process.argv[4] ?? '[]') as string[]
/** More at once would only try the length of the proxy's backlog. */
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
  // Reading is what shows that the other side has ended it.
  socket.resume()
}
process.send?.({ open })
process.on('message', () => process.send?.({ open }))
process.once('disconnect', () => process.exit(0))
