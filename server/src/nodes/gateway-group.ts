import { setTimeout as sleep } from 'node:timers/promises'
import type {
  ContainerShares,
  ControlPlane,
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayState,
  GatewayUser,
  Revocation,
  RouteEntry,
  ShareGroup,
  TlsSettings,
  UseKind,
} from '@berth/gateway/port/gateway.ts'
import { revocationRetention } from '#/accounts/sessions/revocations.ts'
import { nodeTimes } from './leadership.ts'

/** The gateway of a node. */
interface Member {
  readonly node: string
  readonly gateway: Gateway
  /** Ends the connection; the node comes again, and is sent everything. */
  readonly disconnect: () => void
  /** From its `replace` on it is sent every change. */
  isReceiving: boolean
  /** Whether it has confirmed the state that it was sent. */
  isCurrent: boolean
  /** When it was told last that its state counts, by `performance.now()`. */
  confirmedAt: number | undefined
  /** Until when it may serve by what was confirmed on a connection before, by `performance.now()`. */
  readonly staleAt?: number | undefined
}

export interface GatewayGroupParts {
  /** `NODE_ADDRESS` of this node. */
  readonly node: string
  readonly local: Gateway
  /** Nodes whose gateways may serve by what an earlier leader sent. */
  readonly others: readonly string[]
  readonly mayOrder: () => boolean
  readonly report: (problem: string) => void
  /** Called when a connection to a node is lost. @returns whether it has left, and serves nothing any more */
  readonly hasLeft: (node: string) => Promise<boolean>
  /** See `nodeTimes.maxStateAge`; shorter for tests. */
  readonly maxStateAge?: number
}

/**
 * The gateways of all nodes as one: what the leader sends reaches each of them, and counts as confirmed when no gateway
 * may serve by the state of before: each has confirmed it, or has been without a confirmation for so long that it
 * refuses containers by itself (`Freshness`).
 */
export class GatewayGroup implements Gateway {
  readonly #parts: GatewayGroupParts
  readonly #local: Member
  readonly #maxStateAge: number
  readonly #members = new Map<string, Member>()
  /** Nodes that cannot be reached, and when their gateways refuse containers at the latest, by `performance.now()`. */
  readonly #unreached = new Map<string, number>()
  readonly #state = new StateCopy()
  #changed = Promise.withResolvers<void>()
  #served: { readonly settings: GatewaySettings; readonly control: ControlPlane } | undefined

  constructor(parts: GatewayGroupParts) {
    this.#parts = parts
    const { node, local } = parts
    const disconnect = () => undefined
    this.#local = { node, gateway: local, disconnect, isReceiving: true, isCurrent: false, confirmedAt: undefined }
    this.#maxStateAge = parts.maxStateAge ?? nodeTimes.maxStateAge
    for (const other of parts.others) this.#unreached.set(other, this.#untilStale(performance.now()))
  }

  listen(host: string, port: number, tls: TlsSettings | null = null): Promise<number> {
    return this.#local.gateway.listen(host, port, tls)
  }

  async serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    this.#served = { settings: { ...settings, maxStateAge: this.#maxStateAge }, control }
    await this.#each([...this.#members.values()], (member) => this.#serveMember(member))
  }

  async replace(state: GatewayState): Promise<void> {
    this.#state.replace(state)
    await this.#each(this.#receiving(), ({ gateway }) => gateway.replace(state))
    this.#local.isCurrent = true
  }

  async apply(changes: readonly GatewayChange[]): Promise<void> {
    this.#state.apply(changes)
    await this.#each(this.#receiving(), ({ gateway }) => gateway.apply(changes))
    await this.settled()
  }

  /** All gateways hold it, or none does. */
  async hold(prefix: string, minIdle: number, by?: UseKind): Promise<boolean> {
    if (this.#unreached.size > 0) return false
    const members = [this.#local, ...this.#receiving()]
    const held = await Promise.all(members.map(({ gateway }) => gateway.hold(prefix, minIdle, by).catch(() => false)))
    if (held.every(Boolean)) return true
    const route = this.#state.route(prefix)
    if (route) await this.apply([{ kind: 'route', route }])
    return false
  }

  /** Counters of each gateway, with its node as a label. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    const all = await Promise.all(
      [this.#local, ...this.#members.values()].map(async ({ node, gateway }) =>
        labelled(await gateway.counts().catch(() => ({})), node),
      ),
    )
    return Object.assign({}, ...all) as Record<string, number>
  }

  /**
   * Takes the gateway of a node in: it is sent settings and state, and each change from then on.
   * @param disconnect ends its connection @throws when it does not take them; then it is no member
   */
  async join(node: string, gateway: Gateway, disconnect: () => void): Promise<void> {
    if (!this.#served || !this.#local.isCurrent) throw new Error('the leader is starting')
    const earlier = this.#members.get(node)
    if (earlier) this.#expel(earlier)
    const begun = { isReceiving: false, isCurrent: false, confirmedAt: undefined }
    const member: Member = { node, gateway, disconnect, ...begun, staleAt: this.#unreached.get(node) }
    this.#members.set(node, member)
    try {
      await this.#serveMember(member)
      member.isReceiving = true
      await gateway.replace(this.#state.all(Date.now()))
      member.isCurrent = true
      this.#reached(node)
    } catch (error) {
      this.#expel(member)
      throw error
    }
  }

  /** The connection to its node is lost. */
  lose(node: string, gateway: Gateway): void {
    const member = this.#members.get(node)
    if (member?.gateway === gateway) this.#expel(member)
  }

  /** Nodes whose gateways serve containers by the present state. */
  get current(): string[] {
    const isCurrent = ({ isCurrent, confirmedAt }: Member) =>
      isCurrent && confirmedAt !== undefined && performance.now() - confirmedAt < this.#maxStateAge
    return [this.#local, ...this.#members.values()].filter(isCurrent).map(({ node }) => node)
  }

  /** Resolves when no gateway may serve by a state of before any more: at most 11 s after one was lost. */
  async settled(): Promise<void> {
    for (;;) {
      const now = performance.now()
      for (const [node, until] of this.#unreached) if (until <= now) this.#unreached.delete(node)
      if (this.#unreached.size === 0) return
      const next = Math.min(...this.#unreached.values()) - now
      await Promise.race([this.#changed.promise, sleep(next + 1, undefined, { ref: false })])
    }
  }

  #receiving(): Member[] {
    return [...this.#members.values()].filter(({ isReceiving }) => isReceiving)
  }

  /** To this node's gateway, whose failures are the caller's, and to others, which are expelled when they fail. */
  async #each(others: readonly Member[], send: (member: Member) => Promise<void>): Promise<void> {
    const sent = others.map((member) => send(member).catch(() => this.#expel(member)))
    await Promise.all([send(this.#local), ...sent])
  }

  async #serveMember(member: Member): Promise<void> {
    if (!this.#served) return
    const { settings, control } = this.#served
    await member.gateway.serve(
      settings,
      memberControl(control, async () => this.#confirm(member)),
    )
  }

  #confirm(member: Member): void {
    const isMember = member === this.#local || this.#members.get(member.node) === member
    if (!isMember || !member.isCurrent || !this.#parts.mayOrder())
      throw new Error('this node does not lead this gateway')
    member.confirmedAt = performance.now()
  }

  #expel(member: Member): void {
    if (this.#members.get(member.node) !== member) return
    this.#members.delete(member.node)
    member.disconnect()
    const { confirmedAt, staleAt } = member
    const until = confirmedAt === undefined ? staleAt : this.#untilStale(confirmedAt)
    if (until !== undefined) this.#unreached.set(member.node, until)
    this.#parts.report(`the gateway of node ${member.node} is not reached`)
    void this.#parts.hasLeft(member.node).then(
      (hasLeft) => hasLeft && this.#reached(member.node),
      () => undefined,
    )
  }

  #untilStale(confirmedAt: number): number {
    return confirmedAt + this.#maxStateAge + nodeTimes.clockTolerance
  }

  #reached(node: string): void {
    this.#unreached.delete(node)
    this.#changed.resolve()
    this.#changed = Promise.withResolvers<void>()
  }
}

/** @param counts names may have labels: `name{kind="x"}` */
function labelled(counts: Readonly<Record<string, number>>, node: string): Record<string, number> {
  const withNode = (name: string) =>
    name.endsWith('}') ? `${name.slice(0, -1)},node="${node}"}` : `${name}{node="${node}"}`
  return Object.fromEntries(Object.entries(counts).map(([name, value]) => [withNode(name), value]))
}

/** What all gateways were sent so far: for one that joins later. It refers to the same objects as the changes. */
export class StateCopy {
  readonly #users = new Map<number, GatewayUser>()
  readonly #routes = new Map<string, RouteEntry>()
  readonly #shares = new Map<string, ContainerShares>()
  readonly #shareGroups = new Map<number, ShareGroup>()
  #revoked: Revocation[] = []

  replace({ users, routes, revoked, shares = [], shareGroups = [] }: GatewayState): void {
    for (const map of [this.#users, this.#routes, this.#shares, this.#shareGroups]) map.clear()
    for (const user of users) this.#users.set(user.userId, user)
    for (const route of routes) this.#routes.set(route.prefix, route)
    for (const each of shares) this.#setShares(each)
    for (const each of shareGroups) this.#setShareGroup(each)
    this.#revoked = [...revoked]
  }

  apply(changes: readonly GatewayChange[]): void {
    for (const change of changes) this.#apply(change)
  }

  route(prefix: string): RouteEntry | undefined {
    return this.#routes.get(prefix)
  }

  /** @param now ms since 1970: revocations of tokens that have expired are left out */
  all(now: number): GatewayState {
    this.#revoked = this.#revoked.filter(({ expiresAt }) => expiresAt > now - revocationRetention)
    return {
      users: [...this.#users.values()],
      routes: [...this.#routes.values()],
      revoked: this.#revoked,
      shares: [...this.#shares.values()],
      shareGroups: [...this.#shareGroups.values()],
    }
  }

  #apply(change: GatewayChange): void {
    switch (change.kind) {
      case 'user':
        this.#users.set(change.user.userId, change.user)
        break
      case 'user-gone':
        this.#users.delete(change.userId)
        break
      case 'route':
        this.#routes.set(change.route.prefix, change.route)
        break
      case 'route-gone':
        this.#routes.delete(change.prefix)
        break
      case 'revoked':
        this.#revoked.push(change.revocation)
        break
      case 'shares':
        this.#setShares(change.shares)
        break
      case 'share-group':
        this.#setShareGroup(change.group)
        break
    }
  }

  #setShares(shares: ContainerShares): void {
    if (shares.grants.length + (shares.portGrants?.length ?? 0) === 0) this.#shares.delete(shares.prefix)
    else this.#shares.set(shares.prefix, shares)
  }

  #setShareGroup(group: ShareGroup): void {
    if (group.emails.length === 0) this.#shareGroups.delete(group.groupId)
    else this.#shareGroups.set(group.groupId, group)
  }
}

/** The leader's control plane for one gateway of several: its state is confirmed to each by itself. */
export function memberControl(control: ControlPlane, confirmState: () => Promise<void>): ControlPlane {
  return {
    confirmState,
    scopedToken: (...args) => control.scopedToken(...args),
    renewSession: (...args) => control.renewSession(...args),
    enterHost: (...args) => control.enterHost(...args),
    sessionEnd: (...args) => control.sessionEnd(...args),
    reportSessionUses: (...args) => control.reportSessionUses(...args),
    wake: (...args) => control.wake(...args),
    explain: (...args) => control.explain(...args),
    listeningPorts: (...args) => control.listeningPorts(...args),
    reportUnreachable: (...args) => control.reportUnreachable(...args),
    reportActivity: (...args) => control.reportActivity(...args),
    reportVisits: (...args) => control.reportVisits(...args),
    report: (...args) => control.report(...args),
  }
}
