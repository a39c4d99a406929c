import { connect, createServer, type Server } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { Change, ControlPlane, Gateway, GatewaySettings, Known, Person, Place } from '#/gateway/gateway.ts'

/**
 * A gateway that does as it is told and lets a test see what it knows by now: who there is, and where everything is.
 * It brings every connection to the API and none to a container.
 */
export class ObedientGateway implements Gateway {
  readonly people = new Map<number, Person>()
  readonly places = new Map<string, Place>()
  readonly revoked = new Set<string>()
  /** Every change, in order. */
  readonly changes: Change[] = []
  /** Prefixes that were held and not told anew since. */
  readonly held = new Set<string>()
  /** Two places that had one address at the same time, if it ever happened. */
  readonly doubled: string[] = []
  settings: GatewaySettings | undefined
  control: ControlPlane | undefined
  /** What `hold` answers. */
  isQuiet = true
  /** ms until a change counts */
  delay = 0
  /** Changes get lost, and whoever tells them hears so. */
  isDeaf = false
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

  async replace({ people, places, revoked }: Known): Promise<void> {
    if (this.isDeaf) throw new Error('the gateway did not hear it')
    this.people.clear()
    this.places.clear()
    for (const person of people) this.people.set(person.userId, person)
    for (const place of places) this.places.set(place.prefix, place)
    for (const { jti } of revoked) this.revoked.add(jti)
    this.#findDoubled()
  }

  async apply(changes: readonly Change[]): Promise<void> {
    if (this.delay > 0) await new Promise((resolve) => setTimeout(resolve, this.delay))
    if (this.isDeaf) throw new Error('the gateway did not hear it')
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
  wordFor(prefix: string): string | undefined {
    const where = this.places.get(prefix)?.where
    if (!where) return undefined
    if (!('host' in where)) return where.absent
    return where.isPaused ? 'paused' : 'running'
  }

  async close(): Promise<void> {
    const server = this.#server
    if (server?.listening) await new Promise((resolve) => server.close(resolve))
  }

  #applyOne(change: Change): void {
    this.changes.push(change)
    if (change.kind === 'person') this.people.set(change.person.userId, change.person)
    if (change.kind === 'person-gone') this.people.delete(change.userId)
    if (change.kind === 'revoked') this.revoked.add(change.revocation.jti)
    if (change.kind === 'place-gone') this.places.delete(change.prefix)
    if (change.kind !== 'place') return
    this.places.set(change.place.prefix, change.place)
    this.held.delete(change.place.prefix)
    this.#findDoubled()
  }

  #findDoubled(): void {
    const addresses = [...this.places.values()].flatMap(({ where }) => ('host' in where ? where.host : []))
    const twice = addresses.find((address, at) => addresses.indexOf(address) !== at)
    if (twice !== undefined) this.doubled.push(twice)
  }
}
