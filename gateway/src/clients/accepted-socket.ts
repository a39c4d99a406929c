import net, { type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { OnRead, TlsRecords } from './tls-records.ts'

/** What Node keeps in a socket beside what its documentation says: the connection itself. */
interface WithHandle {
  _handle: Handle | null
}

interface Handle {
  /** How Node has it read into memory that it is given. */
  readonly useUserBuffer?: unknown
}

/**
 * Accepted connection as a socket that reads into a reused buffer. Node offers this for sockets that connect (`onread`)
 * and not for those that a server accepts, so the connection is moved to a socket of our own, as Node itself moves it
 * between processes. Should Node change that, connections are used as they are accepted: slower on uploads, otherwise alike.
 * @param accepted from a server with `pauseOnConnect`; it stays with the server, whose count it belongs to, and ends with the other
 * @param memory where the next read goes
 */
export function readingInto(accepted: Socket, memory: () => Buffer, onRead: OnRead): Socket {
  const handle = takeHandle(accepted)
  if (!handle) {
    accepted.on('data', (bytes: Buffer) => onRead(bytes.length, bytes))
    accepted.resume()
    return accepted
  }
  return movedSocket(accepted, handle, memory, onRead)
}

/**
 * As `readingInto`, for an encrypted connection whose handshake is over. Node would give each record new memory outside of
 * its heap, which made V8 collect all of the heap after some 30 uploads of 1 MiB.
 */
export function readingRecords(accepted: TLSSocket, records: TlsRecords): Socket {
  // Records that came with the end of the handshake are in the accepted socket already, and it goes on reading them.
  const handle = accepted.readableLength > 0 ? undefined : takeHandle(accepted)
  if (!handle) {
    accepted.on('data', (bytes: Buffer) => records.takeCopy(bytes))
    accepted.resume()
    return accepted
  }
  const memory = () => records.memory
  const socket = movedSocket(accepted, handle, memory, (length, bytes) => records.take(length, bytes))
  // Node looks for it when the connection closes, to free what OpenSSL holds.
  Object.assign(socket, { ssl: handle })
  // Node's own ones expect a TLS socket. OpenSSL refuses a client that wants another handshake (TLS 1.2).
  Object.assign(handle, {
    onhandshakestart: () => socket.destroy(),
    onhandshakedone: () => {},
    onerror: (error: Error) => socket.destroy(error),
  })
  carrierOf(accepted)?.once('close', () => socket.destroy())
  return socket
}

/**
 * Closes with a reset (RST), which no client takes for the end of an answer. Node's own `resetAndDestroy` refuses a TLS socket
 * (Node 24), and nothing that is documented leads to the connection below it; should Node move that, TLS is closed as usual.
 * @param accepted whose connection `socket` has, or the same
 */
export function reset(accepted: Socket, socket: Socket): void {
  const carrier = accepted instanceof TLSSocket ? carrierOf(accepted) : socket
  if (!socket.destroyed) carrier?.resetAndDestroy()
  socket.destroy()
}

/** What Node keeps in a TLS socket beside what its documentation says: the connection that carries it. */
interface WithParent {
  _parent?: Socket | null
}

// oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name
const carrierOf = (socket: TLSSocket): Socket | null | undefined => (socket as unknown as WithParent)._parent

/** @returns undefined when Node keeps it elsewhere */
function takeHandle(accepted: Socket): Handle | undefined {
  const holder = accepted as unknown as WithHandle
  // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name
  const handle = holder._handle
  if (!handle?.useUserBuffer) return undefined
  // oxlint-disable-next-line eslint/no-underscore-dangle -- as above
  holder._handle = null
  return handle
}

function movedSocket(accepted: Socket, handle: Handle, memory: () => Buffer, onRead: OnRead): Socket {
  const callback = (length: number, bytes: Uint8Array) => {
    onRead(length, bytes as Buffer)
    return true
  }
  const options = { handle, onread: { buffer: memory, callback } } as unknown as net.SocketConstructorOpts
  const socket = new net.Socket(options)
  socket.once('close', () => accepted.destroy())
  return socket
}
