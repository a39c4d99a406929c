import { connect, createServer, type AddressInfo } from 'node:net'

/**
 * The lower bound of a proxy on Node's sockets, as a process: `peers/relay {host} {port}`; sends its own port over IPC.
 * One upstream connection per client connection, every byte passed on unread.
 */
const [host, port] = process.argv.slice(2)
const server = createServer({ noDelay: true }, (client) => {
  const app = connect({ host, port: Number(port), noDelay: true })
  for (const [from, to] of [
    [client, app],
    [app, client],
  ] as const) {
    from.on('data', (bytes) => void to.write(bytes))
    from.on('error', () => to.destroy())
    from.on('close', () => to.destroy())
  }
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.once('disconnect', () => process.exit(0))
