import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { acceptErrors } from '#/basics/bind.ts'
import type { Gateway } from '#/port/gateway.ts'
import { RemoteControlPlane } from '#/rpc/remote-control-plane.ts'
import { protocolVersion } from '#/rpc/rpc-protocol.ts'
import { channelOver } from '#/rpc/rpc-connection.ts'

/** In ms: interval and timeout of the health check of the API process. */
const health = { every: 10_000, timeout: 60_000 }

export interface ApiConnectionsOptions {
  readonly gateway: Gateway
  /** Called with the first readiness of an API process, with its words. */
  readonly announce: (words: string) => void
  readonly logLine: (level: 'info' | 'warn' | 'error', line: string) => void
}

/**
 * The gateway process as a service of its own, beside API processes that others start and end: they connect to a Unix socket, and
 * one after the other is the control plane. One that connects while another is connected waits for the end of that.
 */
export class ApiConnections {
  readonly #options: ApiConnectionsOptions
  readonly #server: Server
  #current: Socket | undefined
  /** Connected, and none of its messages is taken yet. */
  #next: Socket | undefined
  #wasReady = false

  constructor(options: ApiConnectionsOptions) {
    this.#options = options
    this.#server = createServer((socket) => this.#accept(socket))
  }

  /** @param file path of the socket @throws when it cannot be made */
  async listen(file: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject).listen(file, resolve)
    await promise
    const { logLine } = this.#options
    this.#server.removeListener('error', reject).on(
      'error',
      acceptErrors((problem) => logLine('error', problem)),
    )
  }

  /** API processes end by themselves when their connection does. */
  close(): void {
    this.#server.close()
    this.#next?.destroy()
    this.#current?.destroy()
  }

  /** An API process speaks first. What ends without a word is none, such as a gateway that looks whether this one lives. */
  #accept(socket: Socket): void {
    socket.on('error', () => {})
    socket.once('readable', () => {
      if (socket.readableLength > 0) this.#admit(socket)
      else socket.destroy()
    })
  }

  /** Of several that wait the last is kept: the others were given up by what started them. */
  #admit(socket: Socket): void {
    if (!this.#current) return this.#connect(socket)
    this.#next?.destroy()
    this.#next = socket
  }

  #connect(socket: Socket): void {
    this.#current = socket
    const { gateway, logLine } = this.#options
    const over = new AbortController()
    const control: RemoteControlPlane = new RemoteControlPlane(channelOver(socket), {
      gateway,
      report: (problem) => logLine('error', problem),
      onLoaded: (version) => (version === protocolVersion ? control.start() : this.#refuse(socket, version)),
      onReady: (words) => this.#onReady(words),
    })
    socket.once('close', () => {
      over.abort()
      if (this.#server.listening) logLine('warn', 'there is no API process; containers stay reachable')
      this.#current = undefined
      const next = this.#next
      this.#next = undefined
      if (next && !next.destroyed) this.#connect(next)
    })
    void this.#watch(control, socket, over.signal)
  }

  #refuse(socket: Socket, version: number): void {
    const { logLine } = this.#options
    const versions = `it speaks version ${version} of the protocol, the gateway ${protocolVersion}`
    logLine('error', `an API process is refused: ${versions}. Start gateway and API of one version`)
    socket.destroy()
  }

  #onReady(words: string): void {
    if (this.#wasReady) this.#options.logLine('info', 'the API is back')
    else this.#options.announce(words)
    this.#wasReady = true
  }

  /** One whose event loop hangs does not end by itself; without its connection it does, or is killed by what started it. */
  async #watch(control: RemoteControlPlane, socket: Socket, over: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await sleep(health.every, undefined, { signal: over })
        await control.ping(health.timeout)
      }
    } catch {
      if (over.aborted) return
      this.#options.logLine('error', `the API process has not answered for ${health.timeout / 1000} s and is cut off`)
      socket.destroy()
    }
  }
}
