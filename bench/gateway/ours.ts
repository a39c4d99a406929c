import { once } from 'node:events'
import type { ControlPlane, GatewaySettings, Known } from '../../server/src/gateway/gateway.ts'
import { createNetGateway } from '../../server/src/gateway/net/net-gateway.ts'
import { spread, type Route } from './routes.ts'

/** What a gateway of the bench is told before it begins, over IPC. */
export interface OursSettings {
  readonly routes: number
  /** The port at which all the apps listen. */
  readonly backend: number
  readonly access: 'owner' | 'public'
  readonly keys: GatewaySettings['keys']
  /** What apps get in place of a person's token. */
  readonly scopedToken: string
}

/**
 * The gateway by itself, as a process: takes `OursSettings` over IPC and says `{port}`; then answers a message `{changes}`
 * with how long so many changes of a route took each, in ms. It ends in order, so that a profile is written.
 */
process.once('disconnect', () => process.exit(0))
process.once('SIGTERM', () => process.exit(0))
const [told] = (await once(process, 'message')) as [OursSettings]
const gateway = createNetGateway()
const port = await gateway.listen('127.0.0.1', 0)
await gateway.serve(settings(), quietControl())
await gateway.replace(known(spread(told.routes)))
process.on('message', async ({ changes }: { changes: number }) => process.send?.(await timeChanges(changes)))
process.send?.({ port })

function settings(): GatewaySettings {
  const rules = { access: told.access, stripPrefix: true, rewriteLocation: true, forwardToken: 'scoped' } as const
  return {
    scheme: 'http',
    cookieDomain: 'berth.localhost',
    loginUrl: 'http://spawner.berth.localhost:8080/login',
    launchUrl: 'http://spawner.berth.localhost:8080/launch',
    dashboardUrl: 'http://spawner.berth.localhost:8080/dashboard',
    platformSocket: '/nonexistent/berth.sock',
    reservedSlugs: ['api', 'login', 'dashboard'],
    trustedProxies: [],
    keys: told.keys,
    types: { dev: { ...rules, displayName: 'App', allowHeaders: [] } },
    firstType: 'dev',
  }
}

/** A control plane for people whose containers all run. */
function quietControl(): ControlPlane {
  return {
    scopedToken: async () => ({ token: told.scopedToken, expiresAt: Date.now() + 900_000 }),
    wake: async () => undefined,
    explain: async () => ({ absence: undefined, lastLines: [], displayName: 'Development' }),
    suspect: (prefix) => console.error(`an app could not be reached: ${prefix}`),
    used: () => {},
    report: (problem) => console.error(problem),
  }
}

function known(all: readonly Route[]): Known {
  return {
    people: all.map(({ userId, slug }) => ({
      userId,
      slug,
      email: `${slug}@example.org`,
      isBlocked: false,
      createdAt: Date.now() - 86_400_000,
    })),
    places: all.map((route) => place(route, told.backend)),
    revoked: [],
  }
}

function place({ prefix, userId, host }: Route, port: number) {
  const where = { containerId: `container-of-${prefix}`, host, port, isPaused: false }
  return { prefix, ownerId: userId, type: 'dev', isBlocked: false, where }
}

/** The last route moves to another port each time; nothing is connected to it. */
async function timeChanges(changes: number): Promise<number[]> {
  const moving = spread(told.routes).at(-1) as Route
  const milliseconds: number[] = []
  for (let turn = 0; turn < changes; turn++) {
    const started = performance.now()
    await gateway.apply([{ kind: 'place', place: place(moving, 30_000 + (turn % 1000)) }])
    milliseconds.push(performance.now() - started)
  }
  return milliseconds
}
