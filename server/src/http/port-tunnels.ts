import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { tunnelPath, tunnelProtocol } from '@berth/gateway/port/tunnel.ts'
import type { Logger } from 'pino'
import type { ContainerPorts } from '#/containers/open-containers.ts'
import { tunnelEvent } from './listener.ts'

/** How long a program in a container may take to be reached, in ms. */
const connectTimeout = 12_000

const targetForm = new RegExp(`^/${RegExp.escape(tunnelPath)}/([^/?]+)/(\\d{1,5})$`)

/**
 * Gives connections from inside of containers over to the gateway, which has decided who may: it passes on no `Upgrade` of a
 * client. They end with this process; the gateway's other connections go on without it.
 */
export class PortTunnels {
  readonly #ports: Pick<ContainerPorts, 'connect'>
  readonly #log: Pick<Logger, 'warn'>
  readonly #open = new Set<Duplex>()
  #isClosed = false

  constructor(ports: Pick<ContainerPorts, 'connect'>, log: Pick<Logger, 'warn'>) {
    this.#ports = ports
    this.#log = log
  }

  /** Answers on this listener, too. */
  serve(server: Server): void {
    server.on(tunnelEvent, (request: IncomingMessage, socket: Duplex) => void this.#serve(request, socket))
  }

  /** Ends them all, and accepts no more: a listener waits for its connections. */
  close(): void {
    this.#isClosed = true
    for (const each of this.#open) each.destroy()
  }

  /** Never rejects. */
  async #serve(request: IncomingMessage, near: Duplex): Promise<void> {
    const left = new AbortController()
    this.#open.add(near)
    near
      .on('error', () => undefined)
      .once('close', () => {
        this.#open.delete(near)
        left.abort()
      })
    if (this.#isClosed) near.destroy()
    const far = await this.#connect(request, left.signal).catch((error: unknown) => {
      // The gateway gets a status alone.
      if (!left.signal.aborted)
        this.#log.warn({ err: error }, 'a connection from inside of a container could not be made')
      return 503
    })
    if (typeof far === 'number') return void near.end(`HTTP/1.1 ${far} No\r\nContent-Length: 0\r\n\r\n`)
    if (near.destroyed || far.destroyed) return void (near.destroy(), far.destroy())
    near.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${tunnelProtocol}\r\n\r\n`)
    join(near, far)
  }

  /** @returns a status when there is none to be had @throws when the engine cannot make one now */
  async #connect({ url = '' }: IncomingMessage, left: AbortSignal): Promise<Duplex | number> {
    const [, prefix = '', port] = targetForm.exec(url) ?? []
    if (port === undefined) return 404
    const late = new AbortController()
    using _ = setTimeout(() => late.abort(), connectTimeout)
    const found = await this.#ports.connect(prefix, Number(port), AbortSignal.any([left, late.signal]))
    return found === 'refused' ? 404 : found
  }
}

/** Bytes both ways, at the pace of the slower side, until either is gone. */
function join(near: Duplex, far: Duplex): void {
  far.on('error', () => near.destroy()).once('close', () => near.destroy())
  near.once('close', () => far.destroy())
  near.pipe(far)
  far.pipe(near)
}
