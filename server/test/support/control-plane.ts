import { setTimeout as sleep } from 'node:timers/promises'
import { waitForReadiness } from '#/containers/launch/readiness-probe.ts'
import type { ControlPlane, UpstreamAddress } from '@berth/gateway/port/gateway.ts'
import { startBerth, testTemplates, type Berth, type BerthOptions, type Lifetime, type Person } from './berth.ts'
import { askEngine } from './engine/engine.ts'
import { followEvents } from './engine/follow-events.ts'
import { FakeGateway } from './gateway/fake-gateway.ts'
import { pauseBetweenLooks, waitLimit } from './extent.ts'

/** A Berth whose gateway shows what it was told, and one person with a container of the first type. */
export interface ControlPlaneRig {
  readonly berth: Berth
  readonly gateway: FakeGateway
  readonly control: ControlPlane
  /** A user who signed up; the first one is an administrator. */
  person(name: string): Promise<Tenant>
  /** The same without a container, for what asks nothing of the engine. */
  personWithoutContainer(name: string): Promise<Tenant>
}

/** A user and their `dev` container, as the gateway knows it. */
export interface Tenant extends Person {
  readonly prefix: string
  /** Where it is now. @throws when it is absent */
  address(): UpstreamAddress
  /** Its word, or undefined: see `FakeGateway.routeStateOf`. */
  routeState(): string | undefined
  /** Looks until the gateway knows it so, at most 30 s. */
  untilRouteState(word: string | undefined): Promise<void>
}

/** @param fields of the templates */
export async function startRig(
  lifetime: Lifetime,
  fields: Record<string, unknown> = {},
  options: BerthOptions & { readonly gateway?: FakeGateway } = {},
): Promise<ControlPlaneRig> {
  const gateway = options.gateway ?? new FakeGateway()
  const env = { CONTAINER_TEMPLATES: await testTemplates(fields), ...options.env }
  const berth = await startBerth(lifetime, { ...options, gateway, env })
  const { control } = gateway
  if (!control) throw new Error('the gateway was never served')
  const person = async (name: string) => tenantOf(gateway, await berth.signUp(`${name}@x.org`))
  const personWithoutContainer = async (name: string) =>
    tenantOf(gateway, await berth.signUpWithoutContainer(`${name}@x.org`))
  return { berth, gateway, control, person, personWithoutContainer }
}

export function tenantOf(gateway: FakeGateway, person: Person): Tenant {
  const prefix = `${person.slug}-dev`
  const routeState = () => gateway.routeStateOf(prefix)
  return {
    ...person,
    prefix,
    routeState,
    address: () => {
      const where = gateway.routes.get(prefix)?.where
      if (!where || !('host' in where)) throw new Error(`${prefix} is ${where?.reason ?? 'nowhere'}`)
      return where
    },
    untilRouteState: (wanted) =>
      pollUntil(
        () => routeState() === wanted,
        () => `${prefix} is ${routeState()}, not ${wanted}`,
      ),
  }
}

/** Looks until it is so, see `pauseBetweenLooks`. @param limit ms on two quick cores @throws after that, in the given words */
export async function pollUntil(
  isSo: () => boolean | Promise<boolean>,
  words: () => string,
  limit = 30_000,
): Promise<void> {
  const [begun, end] = [performance.now(), waitLimit(limit)]
  while (!(await isSo())) {
    const waited = performance.now() - begun
    if (waited > end) throw new Error(words())
    await sleep(pauseBetweenLooks(waited))
  }
}

/** A program that ends with 3 at SIGUSR1 and eats up all memory at SIGUSR2; it says a line before either. */
export const fragile = {
  command: [
    '/bin/sh',
    '-c',
    'trap "echo last words; exit 3" USR1; trap "echo hungry; exec tail /dev/zero" USR2; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done',
  ],
}

/** Behind Berth's back. */
export const outside = {
  pause: (id: string) => askEngine('POST', `/containers/${id}/pause`),
  unpause: (id: string) => askEngine('POST', `/containers/${id}/unpause`),
  stop: (id: string) => askEngine('POST', `/containers/${id}/stop`),
  start: (id: string) => askEngine('POST', `/containers/${id}/start`),
  signal: (id: string, signal: string) => askEngine('POST', `/containers/${id}/kill`, { query: { signal } }),
  remove: (id: string) => askEngine('DELETE', `/containers/${id}`, { query: { force: 'true' } }),
}

/** What the engine itself says of a container from now on. */
export async function eventsOf(id: string): Promise<{ count(action: string): number; close(): void }> {
  const heard: string[] = []
  const close = await followEvents(id, (action) => void heard.push(action))
  return { count: (action) => heard.filter((each) => each === action).length, close }
}

/** A signal that comes before the program's init is ready is lost; a stop then takes ten seconds. */
export const untilListening = (tenant: Tenant) =>
  waitForReadiness(tenant.address(), 10_000, new AbortController().signal)

/** Behind Berth's back, once the program can take the signal. */
export async function signalWhenListening(tenant: Tenant, name: string): Promise<void> {
  await untilListening(tenant)
  await outside.signal(tenant.address().containerId, name)
}
