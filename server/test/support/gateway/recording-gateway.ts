import type {
  ControlPlane,
  Gateway,
  GatewayChange,
  GatewaySettings,
  GatewayState,
  WakeRight,
} from '@berth/gateway/port/gateway.ts'

/** A gateway that serves no clients and records what it receives, for tests of what crosses between the processes. */
export class RecordingGateway implements Gateway {
  /** In order: `serve`, `replace 3 people`, `apply place ann-dev`, ... */
  readonly calls: string[] = []
  known: GatewayState | undefined
  settings: GatewaySettings | undefined
  /** The one that serves now. */
  control: ControlPlane | undefined
  /** What `listen` rejects with. */
  refusal: string | undefined

  async listen(host: string, port: number): Promise<number> {
    this.calls.push(`listen ${host}:${port}`)
    if (this.refusal !== undefined) throw new Error(this.refusal)
    return port === 0 ? 4321 : port
  }

  async serve(settings: GatewaySettings, control: ControlPlane): Promise<void> {
    this.calls.push('serve')
    this.settings = settings
    this.control = control
  }

  async replace(known: GatewayState): Promise<void> {
    this.calls.push(`replace ${known.users.length} people`)
    this.known = known
  }

  async apply(changes: readonly GatewayChange[]): Promise<void> {
    this.calls.push(`apply ${changes.length} ${changes[0]?.kind}`)
  }

  async hold(prefix: string, minIdle: number): Promise<boolean> {
    this.calls.push(`hold ${prefix} ${minIdle}`)
    return minIdle > 1000
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    return { berth_requests_total: 7 }
  }
}

/** As an API process has them; nothing listens there. */
export const someSettings: GatewaySettings = {
  scheme: 'http',
  cookieDomain: 'berth.localhost',
  continueUrl: 'http://berth.localhost/login',
  launchUrl: 'http://berth.localhost/launch',
  dashboardUrl: 'http://berth.localhost/',
  platformSocket: '/nowhere/api.sock',
  reservedSlugs: ['api'],
  trustedProxies: [],
  keys: [],
  types: {},
  firstType: 'dev',
  sessionEpoch: null,
}

/** As many people, each with one place that runs. */
export function manyKnown(count: number): GatewayState {
  const ids = Array.from({ length: count }, (_, at) => at + 1)
  return {
    users: ids.map((userId) => ({
      userId,
      slug: `person${userId}`,
      email: `person${userId}@example.org`,
      isBlocked: false,
      isAdmin: false,
      createdAt: 1_700_000_000_000 + userId,
    })),
    routes: ids.map((ownerId) => ({
      prefix: `person${ownerId}-dev`,
      ownerId,
      type: 'dev',
      isBlocked: false,
      where: {
        containerId: ownerId.toString(16).padStart(64, '0'),
        host: `10.0.${ownerId >> 8}.${ownerId & 255}`,
        port: 8080,
        isPaused: false,
      },
    })),
    revoked: ids.slice(0, 10).map((id) => ({ jti: `jti-${id}`, expiresAt: 1_800_000_000_000 })),
    shares: ids.map((id) => ({
      prefix: `person${id}-dev`,
      grants: [{ to: id % 10, may: 'look', until: 1_800_000_000_000 }],
    })),
    shareGroups: ids.slice(0, 10).map((id) => ({ groupId: id, emails: [`person${id}@example.org`] })),
  }
}

/** A control plane that knows two answers and remembers what it was told. */
export class RecordingControlPlane implements ControlPlane {
  readonly told: string[] = []

  async scopedToken(userId: number, prefix: string, acting: string | null) {
    if (userId === 0) throw new Error('this user is gone')
    return { token: `${userId} ${prefix} ${acting}`, expiresAt: 1 }
  }

  async wake(prefix: string, _requestId?: string, right?: WakeRight) {
    if (right === 'resume') return { reason: 'asleep', exitCode: null } as const
    return prefix === 'ann-dev' ? undefined : ({ reason: 'crashed', exitCode: 3 } as const)
  }

  async listeningPorts() {
    return undefined
  }

  async explain() {
    return { unavailable: undefined, lastLines: ['last words'], displayName: 'Development' }
  }

  async renewSession(sid: string, userId: number, host: string, prefix: string | null) {
    return [`${sid} ${userId} ${host} ${prefix}`]
  }

  async enterHost(code: string, _prefix: string, [browser]: readonly string[]) {
    return browser === undefined ? undefined : { browser, setCookie: [], next: `/${code}` }
  }

  async sessionEnd(sid: string) {
    return sid.length
  }

  async confirmState() {
    this.told.push('confirm')
  }

  reportSessionUses(uses: readonly { sid: string; at: number }[]): void {
    this.told.push(`sessions ${uses.map(({ sid, at }) => `${sid}@${at}`).join()}`)
  }

  reportUnreachable(prefix: string): void {
    this.told.push(`suspect ${prefix}`)
  }

  reportActivity(activity: readonly { prefix: string; at: number }[]): void {
    this.told.push(`used ${activity.map(({ prefix, at }) => `${prefix}@${at}`).join()}`)
  }

  reportVisits(visits: readonly { prefix: string; userId: number; at: number }[]): void {
    this.told.push(`visits ${visits.map(({ prefix, userId }) => `${userId}@${prefix}`).join()}`)
  }

  report(problem: string): void {
    this.told.push(problem)
  }
}
