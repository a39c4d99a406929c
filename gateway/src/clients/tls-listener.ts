import type { Socket } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { readTlsPair, type TlsFiles } from '#/basics/tls-pair.ts'
import { handshakeShare } from './file-descriptor-limit.ts'
import { CertificateWatch } from './certificate-watch.ts'
import { Handshakes } from './handshakes.ts'

/** Timeout of a TLS handshake, in ms. */
const handshakeTimeout = 10_000

/** A listener that speaks TLS. */
export interface TlsListener {
  readonly server: Server
  /** Uses these files from now on, if they are right. */
  use(files: TlsFiles): void
  /** Stops checking the files. */
  close(): void
}

/**
 * TLS termination in the gateway process, for installations without a proxy: TLS 1.2 and 1.3, HTTP/1.1 only. A new
 * certificate is used for new connections without a restart; one that is wrong is reported, and the old one stays.
 * @param maxConnections that `connected` may keep; handshakes are bounded beside them @param report gets problems of new files
 * @throws {Error} when the files are wrong, in words for the operator
 */
export function createTlsListener(
  files: TlsFiles,
  maxConnections: number,
  report: (problem: string) => void,
  connected: (socket: Socket) => void,
): TlsListener {
  const pair = readTlsPair(files)
  if ('problem' in pair) throw new Error(pair.problem)
  const { cert, key } = pair
  const options = {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    noDelay: true,
    handshakeTimeout,
  } as const
  const handshakes = new Handshakes(Math.max(1, Math.floor(maxConnections * handshakeShare)))
  const server = createServer(options, (socket) => {
    handshakes.end(socket)
    connected(socket)
  })
  // No `maxConnections`: Node would refuse new clients, where the gateway closes idle connections for them.
  server.on('connection', (socket: Socket) => handshakes.begin(socket))
  // Connections of scanners and of clients that do not trust the certificate; Node closes them.
  server.on('tlsClientError', (_, socket) => socket.destroy())
  const watch = new CertificateWatch(files, {
    changed: (next) => server.setSecureContext({ ...options, cert: next.cert, key: next.key }),
    wrong: (problem) => report(`the new certificate is not used, the old one stays: ${problem}`),
  })
  return { server, use: (next) => watch.check(next), close: () => watch.close() }
}
