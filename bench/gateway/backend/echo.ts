import { createServer, type Socket } from 'node:net'
import { acceptOf, frame, maskedFrame } from '../load/web-socket.ts'
import { talking } from '../routes.ts'

/**
 * The WebSocket apps, as a process: `backend/echo.ts`; sends its port, the same on all their addresses, over IPC. It
 * treats every request as an upgrade and does not parse frames: a library would be slower than the proxies.
 */
const port = await listenOnAll(talking.map(({ host }) => host))
process.send?.({ port })
process.once('disconnect', () => process.exit(0))

/** Another program may use the port on one of the addresses: then the next one is tried. */
async function listenOnAll(hosts: readonly string[]): Promise<number> {
  for (let candidate = 20_000; candidate < 20_100; candidate++) {
    const servers = hosts.map(() => createServer({ noDelay: true }, serve))
    const listening = servers.map(
      (server, index) =>
        new Promise((resolve, reject) => {
          server.once('error', reject)
          server.listen({ port: candidate, host: hosts[index], backlog: 4096 }, () => resolve(undefined))
        }),
    )
    const results = await Promise.allSettled(listening)
    if (results.every(({ status }) => status === 'fulfilled')) return candidate
    for (const server of servers) server.close()
  }
  throw new Error('no port from 20000 to 20099 is free')
}

function serve(socket: Socket): void {
  let head = ''
  socket.on('data', function upgrade(chunk: Buffer) {
    head += chunk.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    socket.off('data', upgrade)
    echo(socket)
    const key = /^sec-websocket-key: *(.*)$/im.exec(head)?.[1] ?? ''
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${acceptOf(key)}`]
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`)
  })
  socket.on('error', () => socket.destroy())
}

/** The frames of the load have one length and a mask of zeros, so the reply is known without unmasking. */
function echo(socket: Socket): void {
  let waiting = 0
  socket.on('data', (chunk: Buffer) => {
    waiting += chunk.length
    for (; waiting >= maskedFrame.length; waiting -= maskedFrame.length) socket.write(frame)
  })
}
