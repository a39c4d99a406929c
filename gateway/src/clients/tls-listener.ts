import { statSync } from 'node:fs'
import type { Socket } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { readTlsPair, type TlsFiles, type TlsPair } from '#/basics/tls-pair.ts'
import { handshakeShare } from './client-connections.ts'

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

/** Interval at which the files are checked, in ms. Two `stat` calls; notifications miss links that are replaced. */
const checkEvery = 5_000

export interface CertificateEvents {
  readonly changed: (pair: Exclude<TlsPair, { problem: string }>) => void
  /** Once for each state of the files. */
  readonly wrong: (problem: string) => void
}

/** Polls the files of a certificate, which ACME clients replace one after the other. */
class CertificateWatch {
  readonly #events: CertificateEvents
  readonly #timer: NodeJS.Timeout
  #files: TlsFiles
  #seen: string

  constructor(files: TlsFiles, events: CertificateEvents) {
    this.#events = events
    this.#files = files
    this.#seen = stateOf(files)
    this.#timer = setInterval(() => this.check(), checkEvery)
    this.#timer.unref()
  }

  /** Checks now. @param files other ones to check from now on */
  check(files: TlsFiles = this.#files): void {
    this.#files = files
    const state = stateOf(files)
    if (state === this.#seen) return
    this.#seen = state
    const pair = readTlsPair(files)
    if ('problem' in pair) this.#events.wrong(pair.problem)
    else if (pair.validTo <= new Date()) this.#events.wrong(`it expired at ${pair.validTo.toISOString()}`)
    else this.#events.changed(pair)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Changes when a file is written or replaced, also behind a symbolic link. Never throws: it runs in a timer. */
function stateOf({ certFile, keyFile }: TlsFiles): string {
  return [certFile, keyFile].map(stateOfFile).join('\n')
}

function stateOfFile(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return `${file} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch (error) {
    return `${file} ${(error as NodeJS.ErrnoException).code}`
  }
}

/**
 * Connections in their TLS handshake: bounded, because no other limit counts them. Above the limit the oldest is closed,
 * so that a client that opens connections and sends nothing keeps no other client out.
 */
class Handshakes {
  readonly #max: number
  /** By the peer's address and port, in the order in which they began. */
  readonly #open = new Map<string, Socket>()

  /** @param max of all clients together */
  constructor(max: number) {
    this.#max = max
  }

  /** @param connection as it was accepted; it is counted until `end`, or until it closes */
  begin(connection: Socket): void {
    const peer = peerOf(connection)
    for (const [oldest, stalled] of this.#open) {
      if (this.#open.size < this.#max) break
      this.#open.delete(oldest)
      stalled.destroy()
    }
    this.#open.set(peer, connection)
    connection.once('close', () => {
      if (this.#open.get(peer) === connection) this.#open.delete(peer)
    })
  }

  /** @param connection the encrypted one, which is another object of the same peer */
  end(connection: Socket): void {
    this.#open.delete(peerOf(connection))
  }
}

const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`
