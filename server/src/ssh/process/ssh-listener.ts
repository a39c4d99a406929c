import { createServer, type Socket } from 'node:net'
import ssh2, { type Algorithms, type CipherAlgorithm, type Server } from 'ssh2'
import { acceptErrors } from '@berth/gateway/basics/bind.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { FairSemaphore } from '#/machine/fair-semaphore.ts'
import type { SshControl, SshListener, SshSettings } from '#/ssh/ssh-protocol.ts'
import { ConnectionLimits } from './connection-limits.ts'
import { SshConnection, type ConnectionParts, type Sentences } from './connection.ts'
import { firstPacket, offeredCiphers, readOpening } from './first-packet.ts'
import { handOver, socketOf } from './ssh2-parts.ts'

/** Time for a client's version and its first message of the key exchange, and until it has proved who it is; in ms. */
const [firstPacketTimeout, proofTimeout] = [10_000, 60_000]
/** How long a client is waited for that sends no key exchange before it has the server's, in ms. */
const openingWait = 1_000
/** A client that does not answer so many questions, so far apart in ms, is gone: a laptop that sleeps for minutes is not. */
const [keepaliveInterval, keepaliveCountMax] = [60_000, 10]
/** Programs that the engine starts at the same time, in all and in one container: each takes up to 100 ms of a core. */
const starts = { max: 8, maxOfFlow: 4 }
/** How often use is reported, in ms. */
const useInterval = 1_000

/**
 * What OpenSSH has spoken since 6.5 (2014), and other clients do: key exchanges that cost the server little before it
 * knows who asks, ciphers with their own authentication first, nothing with SHA-1 or CBC, no compression.
 */
const algorithms = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256'],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} satisfies Algorithms
/**
 * What is offered to a client that has one of them. The first cipher of the client's list counts, and OpenSSH before 10 has
 * AES-CTR with a MAC before AES-GCM, which costs both ends half as much.
 */
const authenticatedCiphers: CipherAlgorithm[] = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com']
const ident = 'Berth'

/** A runtime by which none of one container's many channels keeps those of another waiting. */
export function withFairStarts(runtime: Pick<Runtime, 'exec'>): Pick<Runtime, 'exec'> {
  const turns = new FairSemaphore(starts)
  return {
    exec: (id, command, signal) => turns.run(id, () => runtime.exec(id, command, signal), signal),
  }
}

/** How a client came. */
interface Arrival {
  /** Undefined until it has sent its version. */
  connection: SshConnection | undefined
  /** Called when its version and its first packet are there. */
  readonly hasOpened: () => void
  /** Called when its session has begun, or it has left: the first of them counts. */
  readonly over: (hasBegun: boolean) => void
}

/** The SSH server of the SSH process. */
export class SshServer implements Omit<SshListener, 'serve'> {
  readonly #control: SshControl
  readonly #limits = new ConnectionLimits()
  readonly #connections = new Map<number, SshConnection>()
  readonly #used = new Set<number>()
  /** All that are connected. */
  readonly #arrivals = new Map<Socket, Arrival>()
  #listener = createServer()
  #timer: NodeJS.Timeout | undefined
  /** Since the start. */
  readonly #counts = { sessions: 0, failures: 0 }

  constructor(control: SshControl) {
    this.#control = control
  }

  /** Begins to listen. @returns the port @throws {Error} in words for the operator */
  async serve(
    { host, port, hostKey }: SshSettings,
    runtime: Pick<Runtime, 'exec'>,
    sentences: Sentences,
  ): Promise<number> {
    const fair = withFairStarts(runtime)
    const serve = (cipher: CipherAlgorithm[]) => this.#libraryServer(hostKey, cipher, { runtime: fair, sentences })
    const [forMost, forOthers] = [serve(authenticatedCiphers), serve(algorithms.cipher)]
    this.#listener = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 }, (socket) => {
      if (this.#admit(socket)) void this.#begin(socket, forMost, forOthers)
      else socket.destroy()
    })
    const bound = await listen(this.#listener, host, port, (problem) => this.#control.report(problem))
    this.#timer = setInterval(() => this.#reportUse(), useInterval)
    return bound
  }

  #libraryServer(
    hostKey: string,
    cipher: CipherAlgorithm[],
    { runtime, sentences }: Pick<ConnectionParts, 'runtime' | 'sentences'>,
  ): Server {
    const offer = { ...algorithms, cipher }
    const server = new ssh2.Server({
      hostKeys: [hostKey],
      ident,
      algorithms: offer,
      keepaliveInterval,
      keepaliveCountMax,
    })
    server.on('error', (error: Error) => this.#control.report(`the SSH server: ${error.message}`))
    server.on('connection', (client, { ip }) => {
      const socket = socketOf(client)
      const arrival = this.#arrivals.get(socket)
      const connection = new SshConnection(client, ip, {
        control: this.#control,
        runtime,
        sentences,
        onBegun: (begun, session) => {
          arrival?.over(true)
          this.#counts.sessions++
          this.#connections.set(session, begun)
          socket.once('close', () => void this.#connections.delete(session))
        },
        onUse: (session) => void this.#used.add(session),
      })
      if (arrival) arrival.connection = connection
    })
    return server
  }

  /** Reads what a client can do before the library tells it what the server can. */
  async #begin(socket: Socket, forMost: Server, forOthers: Server): Promise<void> {
    const version = `SSH-2.0-${ident}\r\n`
    socket.write(version)
    const opening = await readOpening(socket, openingWait)
    const arrival = this.#arrivals.get(socket)
    if (!arrival) return
    if (opening.isWhole) arrival.hasOpened()
    else void firstPacket(socket).then(arrival.hasOpened)
    const isForMost = offeredCiphers(opening).every((names) =>
      authenticatedCiphers.some((name) => names.includes(name)),
    )
    handOver(isForMost ? forMost : forOthers, socket, version, opening.bytes)
  }

  endSessions(sessions: readonly number[], why: string): void {
    for (const session of sessions) void this.#connections.get(session)?.end(why)
  }

  setPaused(sessions: readonly number[], isPaused: boolean): void {
    for (const session of sessions) this.#connections.get(session)?.setPaused(isPaused)
  }

  async stop(why: string): Promise<void> {
    clearInterval(this.#timer)
    this.#listener.close()
    this.#reportUse()
    await Promise.all([...this.#connections.values()].map((connection) => connection.end(why)))
    for (const socket of this.#arrivals.keys()) socket.destroy()
  }

  counts(): Readonly<Record<string, number>> {
    return {
      berth_ssh_sessions: this.#connections.size,
      berth_ssh_unproven_connections: this.#limits.unproven,
      berth_ssh_sessions_total: this.#counts.sessions,
      berth_ssh_failures_total: this.#counts.failures,
      berth_ssh_refused_connections_total: this.#limits.refused,
    }
  }

  /** Bounds what a connection may take until it has proved who it is. @returns false when there is no place for it */
  #admit(socket: Socket): boolean {
    const address = socket.remoteAddress ?? ''
    const leave = this.#limits.enter(address)
    if (!leave) return false
    const [first, proof] = [firstPacketTimeout, proofTimeout].map((ms) => setTimeout(() => socket.destroy(), ms))
    let isOver = false
    const arrival: Arrival = {
      connection: undefined,
      hasOpened: () => clearTimeout(first),
      over: (hasBegun) => {
        if (isOver) return
        isOver = true
        clearTimeout(first)
        clearTimeout(proof)
        const { connection } = arrival
        // One that was refused a session has proved a key, and holds its place as long as it stays.
        const isProven = hasBegun || connection?.isRefused === true
        leave(isProven)
        if (isProven) return
        this.#counts.failures++
        this.#control.reportFailure(address, connection?.name ?? '')
      },
    }
    this.#arrivals.set(socket, arrival)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      this.#arrivals.delete(socket)
      arrival.over(false)
    })
    return true
  }

  #reportUse(): void {
    if (this.#used.size === 0) return
    this.#control.reportUse([...this.#used])
    this.#used.clear()
  }
}

/** @returns the port @throws {Error} in words for the operator */
async function listen(
  server: ReturnType<typeof createServer>,
  host: string,
  port: number,
  report: (problem: string) => void,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const fail = ({ code }: NodeJS.ErrnoException) =>
      reject(new Error(`SSH_LISTEN: ${host}:${port} cannot be listened on (${code}); choose another address or port`))
    server.once('error', fail)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', fail)
      server.on('error', acceptErrors(report))
      resolve()
    })
  })
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
