import { once } from 'node:events'
import type { ControlPlane, GatewaySettings, GatewayState } from '../../gateway/src/port/gateway.ts'
import type { TlsFiles } from '../../gateway/src/basics/tls-pair.ts'
import { createNetGateway } from '../../gateway/src/net-gateway.ts'
import { spread, type Route } from './routes.ts'

/** The settings of a gateway of the benchmark, sent over IPC before it starts. */
export interface BerthGatewaySettings {
  readonly routes: number
  /** The port of all apps. */
  readonly backend: number
  readonly access: 'owner' | 'public'
  readonly keys: GatewaySettings['keys']
  /** The token that apps receive in place of the user's. */
  readonly scopedToken: string
  readonly tls?: TlsFiles
}

/**
 * The gateway alone, as a process: receives `BerthGatewaySettings` over IPC and sends `{port}`; then answers a message
 * `{changes}` with the duration of each of so many route changes, in ms. It ends normally, so that a profile is
 * written.
 */
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => process.exit(0))
const [received] = (await once(process, 'message')) as [BerthGatewaySettings]
const gateway = createNetGateway()
const port = await gateway.listen('127.0.0.1', 0, received.tls ? { ...received.tls, redirectPort: null } : null)
await gateway.serve(settings(), quietControl())
await gateway.replace(known(spread(received.routes)))
process.on('message', async ({ changes }: { changes: number }) => process.send?.(await timeChanges(changes)))
process.send?.({ port })

function settings(): GatewaySettings {
  const rules = { access: received.access, stripPrefix: true, rewriteLocation: true, forwardToken: 'scoped' } as const
  return {
    scheme: 'http',
    cookieDomain: 'berth.localhost',
    continueUrl: 'http://spawner.berth.localhost:8080/login',
    launchUrl: 'http://spawner.berth.localhost:8080/launch',
    dashboardUrl: 'http://spawner.berth.localhost:8080/dashboard',
    platformSocket: '/nonexistent/berth.sock',
    reservedSlugs: ['api', 'login', 'dashboard'],
    trustedProxies: [],
    keys: received.keys,
    types: { dev: { ...rules, displayName: 'App', allowHeaders: [] } },
    firstType: 'dev',
    sessionEpoch: null,
  }
}

/** A control plane of users whose containers all run. */
function quietControl(): ControlPlane {
  return {
    scopedToken: async () => ({ token: received.scopedToken, expiresAt: Date.now() + 900_000 }),
    renewSession: async () => [],
    enterHost: async () => undefined,
    sessionEnd: async () => 0,
    confirmState: async () => undefined,
    reportSessionUses: () => {},
    wake: async () => undefined,
    listeningPorts: async () => undefined,
    explain: async () => ({ unavailable: undefined, lastLines: [], displayName: 'Development' }),
    reportUnreachable: (prefix) => console.error(`an app could not be reached: ${prefix}`),
    reportVisits: () => {},
    reportActivity: () => {},
    report: (problem) => console.error(problem),
  }
}

function known(all: readonly Route[]): GatewayState {
  return {
    users: all.map(({ userId, slug }) => ({
      userId,
      slug,
      email: `${slug}@example.org`,
      isBlocked: false,
      isAdmin: false,
      createdAt: Date.now() - 86_400_000,
    })),
    routes: all.map((route) => routeTo(route, received.backend)),
    revoked: [],
  }
}

function routeTo({ prefix, userId, host }: Route, port: number) {
  const where = { containerId: `container-of-${prefix}`, host, port, isPaused: false }
  return { prefix, ownerId: userId, type: 'dev', isBlocked: false, where }
}

/** The last route moves to another port each time; it has no connections. */
async function timeChanges(changes: number): Promise<number[]> {
  const moving = spread(received.routes).at(-1) as Route
  const milliseconds: number[] = []
  for (let round = 0; round < changes; round++) {
    const started = performance.now()
    await gateway.apply([{ kind: 'route', route: routeTo(moving, 30_000 + (round % 1000)) }])
    milliseconds.push(performance.now() - started)
  }
  return milliseconds
}
