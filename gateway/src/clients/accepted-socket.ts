import { TLSSocket } from 'node:tls'
import net, { type Socket } from 'node:net'

/** Called with each read: so many bytes at the beginning of `memory`, which the next read overwrites. */
type OnRead = (length: number, memory: Buffer) => void

/** What Node keeps in a socket beside what its documentation says: the connection itself. */
interface WithHandle {
  _handle: object | null
}

/**
 * Accepted connection as a socket that reads into a reused buffer. Node offers this for sockets that connect (`onread`)
 * and not for those that a server accepts, so the connection is moved to a socket of our own, as Node itself moves it
 * between processes. Should Node change that, connections are used as they are accepted: slower on uploads, otherwise alike.
 * @param accepted from a server with `pauseOnConnect`; it stays with the server, whose count it belongs to, and ends with the other
 * @param memory where the next read goes
 */
export function readingInto(accepted: Socket, memory: () => Buffer, onRead: OnRead): Socket {
  // What is read from its handle is what TLS encrypted.
  if (accepted instanceof TLSSocket) return readingAnyhow(accepted, onRead)
  const holder = accepted as unknown as WithHandle
  // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name
  const handle = holder._handle
  if (!handle) return readingAnyhow(accepted, onRead)
  const callback = (length: number, bytes: Uint8Array) => {
    onRead(length, bytes as Buffer)
    return true
  }
  const options = { handle, onread: { buffer: memory, callback } } as unknown as net.SocketConstructorOpts
  const socket = new net.Socket(options)
  // oxlint-disable-next-line eslint/no-underscore-dangle -- as above
  holder._handle = null
  socket.once('close', () => accepted.destroy())
  return socket
}

/** What Node keeps in a TLS socket beside what its documentation says: the connection that carries it. */
interface WithParent {
  _parent?: Socket | null
}

/**
 * Closes with a reset (RST), which no client takes for the end of an answer. Node's own `resetAndDestroy` refuses a TLS socket
 * (Node 24), and nothing that is documented leads to the connection below it; should Node move that, TLS is closed as usual.
 */
export function reset(socket: Socket): void {
  // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name
  const carrier = socket instanceof TLSSocket ? (socket as unknown as WithParent)._parent : socket
  if (!socket.destroyed) carrier?.resetAndDestroy()
  socket.destroy()
}

function readingAnyhow(accepted: Socket, onRead: OnRead): Socket {
  accepted.on('data', (bytes: Buffer) => onRead(bytes.length, bytes))
  accepted.resume()
  return accepted
}
