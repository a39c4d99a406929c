import { connect, createServer, type Server, type AddressInfo } from 'node:net'
import type {
  ControlPlane,
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayState,
  GatewayUser,
  RouteEntry,
} from '@berth/gateway/port/gateway.ts'

/**
 * A gateway that applies its changes and lets a test see its state: users and routes.
 * It brings every connection to the API and none to a container.
 */
export class FakeGateway implements Gateway {
  readonly people = new Map<number, GatewayUser>()
  readonly routes = new Map<string, RouteEntry>()
  readonly revoked = new Set<string>()
  /** Every change, in order. */
  readonly changes: GatewayChange[] = []
  /** Prefixes that were held and not told anew since. */
  readonly held = new Set<string>()
  /** Two places that had one address at the same time, if it ever happened. */
  readonly duplicateAddresses: string[] = []
  settings: GatewaySettings | undefined
  control: ControlPlane | undefined
  /** What `hold` answers. */
  isQuiet = true
  /** ms until a change counts */
  delay = 0
  /** Changes are rejected, and their sender receives the error. */
  failsChanges = false
  #server: Server | undefined

  async listen(host: string, port: number): Promise<number> {
    this.#server ??= createServer((near) => {
      const far = connect(this.settings?.platformSocket ?? '')
      near.on('error', () => far.destroy()).on('close', () => far.destroy())
      far.on('error', () => near.destroy()).on('close', () => near.destroy())
      near.pipe(far).pipe(near)
    })
    const server = this.#server
    if (!server.listening) await new Promise<void>((resolve) => server.listen(port, host, resolve))
    return (server.address() as AddressInfo).port
  }

  async serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    this.settings = settings
    this.control = control
  }

  async replace({ users, routes, revoked }: GatewayState): Promise<void> {
    if (this.failsChanges) throw new Error('the gateway did not hear it')
    this.people.clear()
    this.routes.clear()
    for (const person of users) this.people.set(person.userId, person)
    for (const place of routes) this.routes.set(place.prefix, place)
    for (const { jti } of revoked) this.revoked.add(jti)
    this.#findDuplicateAddresses()
  }

  async apply(changes: readonly GatewayChange[]): Promise<void> {
    if (this.delay > 0) await new Promise((resolve) => setTimeout(resolve, this.delay))
    if (this.failsChanges) throw new Error('the gateway did not hear it')
    for (const change of changes) this.#applyOne(change)
  }

  async hold(prefix: string): Promise<boolean> {
    if (this.isQuiet) this.held.add(prefix)
    return this.isQuiet
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    return { berth_gateway_requests_total: 7 }
  }

  /** Where a place is, in a word: `running`, `paused`, or why it is absent; undefined when there is none. */
  routeStateOf(prefix: string): string | undefined {
    const where = this.routes.get(prefix)?.where
    if (!where) return undefined
    if (!('host' in where)) return where.reason
    return where.isPaused ? 'paused' : 'running'
  }

  async close(): Promise<void> {
    const server = this.#server
    if (server?.listening) await new Promise((resolve) => server.close(resolve))
  }

  #applyOne(change: GatewayChange): void {
    this.changes.push(change)
    if (change.kind === 'user') this.people.set(change.user.userId, change.user)
    if (change.kind === 'user-gone') this.people.delete(change.userId)
    if (change.kind === 'revoked') this.revoked.add(change.revocation.jti)
    if (change.kind === 'route-gone') this.routes.delete(change.prefix)
    if (change.kind !== 'route') return
    this.routes.set(change.route.prefix, change.route)
    this.held.delete(change.route.prefix)
    this.#findDuplicateAddresses()
  }

  #findDuplicateAddresses(): void {
    const addresses = [...this.routes.values()].flatMap(({ where }) => ('host' in where ? where.host : []))
    const twice = addresses.find((address, at) => addresses.indexOf(address) !== at)
    if (twice !== undefined) this.duplicateAddresses.push(twice)
  }
}
