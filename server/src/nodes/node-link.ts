import { once } from 'node:events'
import { connect, createSecureContext, createServer, type SecureContext, type Server, type TLSSocket } from 'node:tls'
import { acceptErrors } from '@berth/gateway/basics/bind.ts'

/**
 * Connections between nodes: TLS with a pre-shared key (RFC 5487, 8442), which each side has to know, and with forward
 * secrecy. No certificates, so that none expires.
 */

/** What a connection is for: RPC with a gateway, or requests to a Unix socket of the leader. */
export type LinkPurpose = 'gateway' | 'api' | 'operator'

/** First line of a connection. */
export interface Hello {
  readonly purpose: LinkPurpose
  /** `NODE_ADDRESS` of the node that connects. */
  readonly node: string
  /** Epoch of the leader that is meant. */
  readonly epoch: number
  /** Version of the RPC protocol. */
  readonly protocol: number
}

export interface LinkAddress {
  readonly host: string
  readonly port: number
}

/** @param text of `NODE_ADDRESS`: `host:port` or `[::1]:port` */
export function linkAddressOf(text: string): LinkAddress {
  const [, six, other, port] = /^(?:\[(.+)\]|(.+)):(\d+)$/.exec(text) ?? []
  return { host: six ?? other ?? '', port: Number(port) }
}

const identity = 'berth'
/** One suite: AEAD with forward secrecy. TLS 1.3 of OpenSSL takes keys of sessions only, so it is 1.2. */
const tls = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
/** In ms. */
const [connectTimeout, helloTimeout, keepAliveDelay] = [3_000, 3_000, 3_000]
const maxHelloLength = 1_000

/** @param accept gets each connection of a node with its first line; what it does not want, it destroys */
export function createLinkListener(key: Buffer, accept: (hello: Hello, socket: TLSSocket) => void): Server {
  const server = createServer({
    ...tls,
    handshakeTimeout: connectTimeout,
    pskCallback: (_, name) => (name === identity ? key : null),
  })
  server.on('secureConnection', (socket) => {
    // Followed by 'close'.
    socket.on('error', () => {})
    socket.setKeepAlive(true, keepAliveDelay).setNoDelay(true)
    readHello(socket).then(
      (hello) => accept(hello, socket),
      () => socket.destroy(),
    )
  })
  server.on('tlsClientError', (_, socket) => socket.destroy())
  return server
}

/** @param report as of `acceptErrors` @throws {Error} when it cannot be bound */
export async function listenForNodes(
  server: Server,
  { host, port }: LinkAddress,
  report: (problem: string) => void,
): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
  server.on('error', acceptErrors(report))
}

/** Made once: it costs a fifth of a handshake. */
let context: SecureContext | undefined

/**
 * What the connections of a node to a leader share: they resume the TLS session of the one before (RFC 5077), which
 * saves half of the CPU of a handshake. The leader has the key of its tickets in memory alone, so that forward secrecy
 * ends with its process.
 */
export interface LinkTicket {
  ticket?: Buffer | undefined
}

/**
 * Connects, and says what for.
 * @param session of connections to the same process before
 * @throws {Error} when the node does not answer within 3 s, or has another key
 */
export async function connectToNode(
  { host, port }: LinkAddress,
  key: Buffer,
  hello: Hello,
  session: LinkTicket = {},
): Promise<TLSSocket> {
  context ??= createSecureContext(tls)
  const socket = connect({
    secureContext: context,
    ...(session.ticket && { session: session.ticket }),
    host,
    port,
    pskCallback: () => ({ psk: key, identity }),
    checkServerIdentity: () => undefined,
  })
  socket.setKeepAlive(true, keepAliveDelay).setNoDelay(true)
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(connectTimeout) })
  } catch (error) {
    // A ticket that is not accepted leads to a whole handshake; should one fail otherwise, the next one begins anew.
    session.ticket = undefined
    socket.on('error', () => {}).destroy()
    throw error
  }
  session.ticket = socket.getSession()
  socket.on('error', () => {})
  socket.write(`${JSON.stringify(hello)}\n`)
  return socket
}

/** What the leader sends before anything else, once it serves a connection of requests. */
const acknowledgement = Buffer.from([6])

/** @param socket a connection of requests, which the leader serves from now on */
export function acknowledge(socket: TLSSocket): void {
  socket.write(acknowledgement)
}

/**
 * Resolves when the leader serves this connection of requests; before that nothing may be sent on it, so that a leader
 * that stops has begun nothing of what it does not answer.
 * @throws {Error} when it does not within 3 s; the connection is ended then
 */
export async function acknowledged(socket: TLSSocket): Promise<void> {
  using _ = setTimeout(() => socket.destroy(), helloTimeout)
  try {
    const bytes = await nextBytes(socket)
    if (bytes[0] !== acknowledgement[0]) throw new Error('the leader does not speak this protocol')
    socket.pause()
    if (bytes.length > 1) socket.unshift(bytes.subarray(1))
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** @throws when no such line comes in time */
async function readHello(socket: TLSSocket): Promise<Hello> {
  using _ = setTimeout(() => socket.destroy(), helloTimeout)
  let bytes = Buffer.alloc(0)
  for (;;) {
    const end = bytes.indexOf('\n')
    if (end >= 0) {
      socket.pause()
      if (end + 1 < bytes.length) socket.unshift(bytes.subarray(end + 1))
      return parseHello(bytes.subarray(0, end).toString('utf8'))
    }
    if (bytes.length > maxHelloLength) throw new Error('the first line is too long')
    bytes = Buffer.concat([bytes, await nextBytes(socket)])
  }
}

/** @throws when the connection ends */
async function nextBytes(socket: TLSSocket): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read() as Buffer | null
    if (bytes) return bytes
    if (socket.destroyed || socket.readableEnded) throw new Error('the connection has ended')
    await Promise.race([once(socket, 'readable'), once(socket, 'close')])
  }
}

function parseHello(line: string): Hello {
  const { purpose, node, epoch, protocol } = Object(JSON.parse(line)) as Record<string, unknown>
  const isPurpose = purpose === 'gateway' || purpose === 'api' || purpose === 'operator'
  if (!isPurpose || typeof node !== 'string' || typeof epoch !== 'number' || typeof protocol !== 'number')
    throw new Error('the first line is not understood')
  return { purpose, node, epoch, protocol }
}
