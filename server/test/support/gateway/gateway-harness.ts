import type net from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import type {
  ControlPlane,
  Explanation,
  GatewaySettings,
  GatewayState,
  GatewayUser,
  RouteActivity,
  RouteEntry,
  TypeRules,
  Unavailable,
  UpstreamAddress,
  Visit,
} from '@berth/gateway/port/gateway.ts'
import type { TlsFiles } from '@berth/gateway/basics/tls-pair.ts'
import { createNetGateway, type NetGatewayOptions } from '@berth/gateway/net-gateway.ts'
import { publicJwk, people } from './tokens.ts'
import { listen, opened } from './test-apps.ts'

export const usualRules: TypeRules = {
  displayName: 'Development',
  access: 'owner',
  stripPrefix: true,
  rewriteLocation: true,
  forwardToken: 'scoped',
  allowHeaders: [],
}

/** What the gateway has told its control plane, newest last. */
export interface ControlPlaneCalls {
  readonly reports: string[]
  readonly suspects: string[]
  readonly activity: RouteActivity[]
  readonly wakes: string[]
  readonly visits: Visit[]
}

export type Routing = 'path' | 'subdomain'

/** Subdomain routing below `spawner.test`. */
export const containerHosts = {
  spawnerHost: 'spawner.test',
  platformNames: ['spawner.test'],
  entryUrl: 'http://spawner.test/enter',
} as const

/** Rules of a type whose containers have hosts of their own, as the API sends them. */
const ownHost = { hasOwnHost: true, rewriteLocation: false, sandboxVisitors: false } as const

export type HarnessGateway = ReturnType<typeof createNetGateway>

export interface GatewayHarness {
  /** Where the gateway listens. */
  readonly port: number
  readonly gateway: HarnessGateway
  readonly calls: ControlPlaneCalls
  /** Ann's container, as the gateway was told at first. */
  readonly route: RouteEntry
  /** What the gateway was told at first; `replace` with changes of it. */
  readonly known: GatewayState
  readonly settings: GatewaySettings
  readonly control: ControlPlane
}

export interface HarnessOptions {
  /** Of type `dev`. */
  readonly rules?: Partial<TypeRules>
  /** How containers are addressed; below paths when it is left out. */
  readonly routing?: Routing
  /** Of Ann's container. */
  readonly place?: Partial<RouteEntry>
  readonly person?: Partial<GatewayUser>
  readonly settings?: Partial<GatewaySettings>
  readonly control?: Partial<ControlPlane>
  /** Beside `ann-dev` and `max-dev`. */
  readonly places?: readonly RouteEntry[]
  readonly people?: readonly GatewayUser[]
  readonly revoked?: GatewayState['revoked']
  readonly shares?: GatewayState['shares']
  /** Stands for the API and the front end; without one the socket is not open. */
  readonly platform?: net.Server
  /** Files with which the gateway speaks TLS. */
  readonly tls?: TlsFiles
  /** Limits of the gateway, to make them short. */
  readonly options?: NetGatewayOptions
}

/** A gateway on a real socket before a real app; both end with the test. */
export async function startGatewayHarness(
  t: TestContext,
  app: net.Server,
  changes: HarnessOptions = {},
): Promise<GatewayHarness> {
  const route = { ...routeTo('ann-dev', 1, await listen(t, app)), ...changes.place }
  const calls: ControlPlaneCalls = { reports: [], suspects: [], activity: [], wakes: [], visits: [] }
  const control = { ...fakeControlPlane(calls), ...changes.control }
  const settings = { ...(await usualSettings(t, changes)), ...changes.settings }
  const known: GatewayState = {
    users: [
      ...people.map((one) => (one.userId === 1 ? { ...one, ...changes.person } : one)),
      ...(changes.people ?? []),
    ],
    routes: [route, routeTo('max-dev', 3, 1), ...(changes.places ?? [])],
    revoked: changes.revoked ?? [],
    shares: changes.shares ?? [],
  }
  const gateway = createNetGateway(changes.options)
  t.after(() => gateway.close(0))
  const port = await gateway.listen('127.0.0.1', 0, changes.tls ? { ...changes.tls, redirectPort: null } : null)
  await gateway.serve(settings, control)
  await gateway.replace(known)
  return { port, gateway, calls, route, known, settings, control }
}

/** A container that runs on the loopback. @param port 1 where no server listens */
export function routeTo(
  prefix: string,
  ownerId: number,
  port: number,
  changes: Partial<UpstreamAddress> = {},
): RouteEntry {
  const where: UpstreamAddress = {
    containerId: `c-${prefix}-${port}`,
    host: '127.0.0.1',
    port,
    isPaused: false,
    ...changes,
  }
  return { prefix, ownerId, type: prefix.slice(prefix.indexOf('-') + 1), isBlocked: false, where }
}

export const asleep: Unavailable = { reason: 'asleep', exitCode: null }

async function usualSettings(t: TestContext, { rules, platform, routing }: HarnessOptions): Promise<GatewaySettings> {
  const settings = settingsOf(await listenOnSocket(t, platform))
  const usual = routing === 'subdomain' ? { ...usualRules, ...ownHost } : usualRules
  const types = { dev: { ...usual, ...rules }, prod: usual }
  return routing === 'subdomain' ? { ...settings, types, containerHosts } : { ...settings, types }
}

/** Settings with the key that `tokenFor` signs with. */
export function settingsOf(platformSocket: string): GatewaySettings {
  return {
    scheme: 'http',
    cookieDomain: 'spawner.test',
    continueUrl: 'http://spawner.test/login',
    launchUrl: 'http://spawner.test/launch',
    dashboardUrl: 'http://spawner.test/dashboard?a=1&b=2',
    platformSocket,
    reservedSlugs: ['api', 'login', 'dashboard', 'assets', 'launch'],
    trustedProxies: [],
    keys: [publicJwk],
    types: { dev: usualRules, prod: usualRules },
    firstType: 'dev',
    sessionEpoch: 'epoch',
  }
}

/** The control plane of a machine on which nothing happens. */
function fakeControlPlane(calls: ControlPlaneCalls): ControlPlane {
  const explanation: Explanation = { unavailable: undefined, lastLines: [], displayName: 'Development' }
  return {
    scopedToken: async (userId, prefix) => ({
      token: `scoped-${userId}-${prefix}`,
      expiresAt: Date.now() + 900_000,
    }),
    renewSession: async () => [],
    enterHost: async () => undefined,
    sessionEnd: async () => 0,
    confirmState: async () => undefined,
    reportSessionUses: () => {},
    wake: async (prefix) => {
      calls.wakes.push(prefix)
      return { reason: 'failed', exitCode: null }
    },
    listeningPorts: async () => undefined,
    explain: async () => explanation,
    reportUnreachable: (prefix) => void calls.suspects.push(prefix),
    reportVisits: (visits) => void calls.visits.push(...visits),
    reportActivity: (activity) => void calls.activity.push(...activity),
    report: (problem) => void calls.reports.push(problem),
  }
}

async function listenOnSocket(t: TestContext, server: net.Server | undefined): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-bench-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const socket = path.join(folder, 'platform.sock')
  if (server) await opened(t, server, { path: socket })
  return socket
}
