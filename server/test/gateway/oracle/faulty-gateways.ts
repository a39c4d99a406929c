import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayState,
  RouteEntry,
  UpstreamAddress,
} from '@berth/gateway/port/gateway.ts'

/** Says that it has taken changes in, and does so with some of them a little later. @param delay in ms */
export function lateGateway(
  gateway: Gateway,
  delay: number,
  isLate: (change: GatewayChange) => boolean = () => true,
): Gateway {
  return {
    ...allOf(gateway),
    apply: async (changes) => {
      setTimeout(() => void gateway.apply(changes.filter(isLate)), delay)
      await gateway.apply(changes.filter((change) => !isLate(change)))
    },
  }
}

/**
 * Keeps the address of a container that is removed, and sends requests there also when the one that was created in its place
 * is known, until that one changes again.
 */
export function addressKeepingGateway(gateway: Gateway): Gateway {
  const [known, kept] = [new Map<string, UpstreamAddress>(), new Map<string, UpstreamAddress>()]
  const faultyChange = (change: GatewayChange): GatewayChange[] => {
    if (change.kind !== 'route') return [change]
    const { prefix, where } = change.route
    const before = known.get(prefix)
    if ('reason' in where && where.reason === 'missing' && before) {
      kept.set(prefix, before)
      return []
    }
    const instead = kept.get(prefix)
    kept.delete(prefix)
    if ('reason' in where) return [change]
    known.set(prefix, where)
    return [instead ? { ...change, route: { ...change.route, where: instead } } : change]
  }
  return { ...allOf(gateway), apply: (changes) => gateway.apply(changes.flatMap(faultyChange)) }
}

/** Says that it holds requests, and sends them on to containers that are about to be stopped, or only to those that are paused. */
export function holdlessGateway(gateway: Gateway, what: 'stopped' | 'paused'): Gateway {
  const held = new Set<string>()
  const isIgnored = (change: GatewayChange) => {
    if (change.kind !== 'route') return false
    const { prefix, where } = change.route
    const isHeld = held.delete(prefix)
    return what === 'paused' ? 'host' in where && where.isPaused : isHeld && 'reason' in where
  }
  return {
    ...allOf(gateway),
    hold: async (prefix) => {
      held.add(prefix)
      return true
    },
    apply: (changes) => gateway.apply(changes.filter((change) => !isIgnored(change))),
  }
}

const allOf = (gateway: Gateway): Gateway => ({
  listen: (host, port) => gateway.listen(host, port),
  serve: (settings, control) => gateway.serve(settings, control),
  replace: (known) => gateway.replace(known),
  apply: (changes) => gateway.apply(changes),
  hold: (prefix, minIdle) => gateway.hold(prefix, minIdle),
  counts: () => gateway.counts(),
})

/**
 * As many a proxy is written: routes in a table, and idle connections kept by address, so that who gets an address gets
 * the connections of the app that had it before. It checks no token, either.
 */
export class PoolingGateway implements Gateway {
  readonly #places = new Map<string, RouteEntry>()
  readonly #agent = new http.Agent({ keepAlive: true })
  readonly #server = http.createServer((request, response) => this.#forward(request, response))

  async listen(host: string): Promise<number> {
    await new Promise<void>((resolve) => void this.#server.listen(0, host, resolve))
    return (this.#server.address() as AddressInfo).port
  }

  async serve(_settings: GatewaySettings): Promise<void> {}

  async replace({ routes }: GatewayState): Promise<void> {
    for (const place of routes) this.#places.set(place.prefix, place)
  }

  async apply(changes: readonly GatewayChange[]): Promise<void> {
    for (const change of changes) {
      if (change.kind === 'route') this.#places.set(change.route.prefix, change.route)
      if (change.kind === 'route-gone') this.#places.delete(change.prefix)
    }
  }

  async hold(): Promise<boolean> {
    return false
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    return {}
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    this.#server.closeAllConnections()
    this.#server.close()
    await sleep(0)
  }

  #forward(request: http.IncomingMessage, response: http.ServerResponse): void {
    const [, prefix = '', path = '/'] = /^\/([^/]+)(.*)$/.exec(request.url ?? '') ?? []
    const where = this.#places.get(prefix)?.where
    const refuse = () =>
      response.headersSent ? response.destroy() : response.writeHead(502, { 'content-length': 0 }).end()
    if (!where || 'reason' in where) return void refuse()
    const { method, headers } = request
    const asked = http.request({ host: where.host, port: where.port, path, method, headers, agent: this.#agent })
    asked.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      answer.on('error', refuse)
    })
    asked.on('error', refuse)
    asked.on('upgrade', (_, socket) => {
      socket.destroy()
      refuse()
    })
    request.pipe(asked)
  }
}
