import { spawnSync } from 'node:child_process'
import { createServer } from 'node:net'

/** Runs inside the network namespace of Chromium: hands a listening socket of it to its parent, and ends with that. */

const loopbackUp = ['link', 'set', 'lo', 'up']
const isUp = [['ip'], ['busybox', 'ip']].some(
  ([program = '', ...first]) => spawnSync(program, [...first, ...loopbackUp]).status === 0,
)
if (!isUp) throw new Error('The loopback interface of the namespace cannot be brought up.')

process.on('disconnect', () => process.exit())
const server = createServer().listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The socket has no port.')
  // Both would accept connections.
  process.send?.(address.port, server, () => server.close())
})
