import type { Socket } from 'node:net'
import type { Connection, Server, ServerChannel, Session } from 'ssh2'

/**
 * What the library keeps to itself and a server for unknown clients has to look at. Tests in ssh-hostile.test.ts fail
 * when a version of it has other parts.
 */
interface ClientParts {
  readonly _sock: Socket
  readonly _protocol: { readonly _queue?: readonly unknown[] }
}

interface Outgoing {
  readonly outgoing: { packetSize: number }
}

/** Max bytes of a packet's data: what SSH has to take (RFC 4253, 6.1). */
const maxPacket = 32_768
/** Below it a packet is mostly overhead, and with 0 the library's loop over packets would never end. */
const minPacket = 256

/** The connection of a client. */
export function socketOf(client: Connection): Socket {
  const { _sock: socket } = client as unknown as ClientParts
  return socket
}

/**
 * Hands a client over that has the version line of the server already, which the library sends first.
 * @param sent what the client has sent so far
 */
export function handOver(server: Server, socket: Socket, version: string, sent: Buffer): void {
  const write = socket.write.bind(socket) as (bytes: unknown) => boolean
  socket.write = (bytes: unknown) => {
    Reflect.deleteProperty(socket, 'write')
    return String(bytes) === version || write(bytes)
  }
  if (sent.length > 0) socket.unshift(sent)
  server.injectSocket(socket)
}

/** Packets that wait while keys are being replaced: a client that never ends that would have them wait for ever. */
export function queuedPackets(client: Connection): number {
  const { _protocol: protocol } = client as unknown as ClientParts
  const { _queue: queue } = protocol
  return queue?.length ?? 0
}

/** @returns false when packets to this client would be too small */
export function boundPackets(channel: ServerChannel | Session): boolean {
  const { _chanInfo: info } = channel as unknown as { readonly _chanInfo?: Outgoing }
  const { outgoing } = info ?? (channel as unknown as Outgoing)
  if (outgoing.packetSize < minPacket) return false
  outgoing.packetSize = Math.min(outgoing.packetSize, maxPacket)
  return true
}
