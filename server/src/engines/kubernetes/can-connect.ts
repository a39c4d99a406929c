import { connect } from 'node:net'

/** Timeout of a connection, in ms; a policy mostly drops what it refuses. */
const timeout = 2_000

/** Whether a TCP connection is accepted. Never throws. */
export async function canConnect(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout })
  socket.once('connect', () => resolve(true))
  socket.once('timeout', () => resolve(false))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
