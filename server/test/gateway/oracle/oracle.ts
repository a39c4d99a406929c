import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import { settingsOf } from '#test/support/gateway/gateway-harness.ts'
import { containerHosts } from '#test/support/gateway/gateway-harness.ts'
import { tokenFor } from '#test/support/gateway/tokens.ts'
import { Random } from '../fuzz/random.ts'
import { byHost, byPath } from './addressing.ts'
import { OracleClient, type OracleCounts } from './client.ts'
import { World, type WorldCounts } from './world.ts'

export interface OracleRun {
  readonly seed: number
  readonly requests: number
  readonly clients: number
  readonly changesPerSecond: number
  /** How containers are addressed: below paths unless it says so. */
  readonly routing?: 'path' | 'subdomain'
  /** Called when the gateway has its state. @returns ports of further gateways, which clients ask as well */
  readonly others?: () => Promise<readonly number[]>
}

export interface OracleFindings extends OracleCounts, WorldCounts {
  readonly changes: number
  /** ms */
  readonly took: number
}

const peopleCount = 40
/** How often changes are sent, in ms; as many at a time as are due. */
const pace = 10

/**
 * Lets clients ask while everything changes, and names every answer that came from an app that was never that prefix's
 * while it was asked for. @param gateway ends with the run only if the caller ends it
 */
export async function runOracle(
  gateway: Gateway,
  { seed, requests, clients, changesPerSecond, routing = 'path', others = async () => [] }: OracleRun,
  progress: (done: number) => void = () => {},
): Promise<OracleFindings> {
  const counts: OracleCounts = {
    requests: 0,
    answered: 0,
    messages: 0,
    visits: 0,
    ofPorts: 0,
    inside: 0,
    refused: 0,
    cut: 0,
    wrong: [],
  }
  const port = await gateway.listen('127.0.0.1', 0)
  const world = new World(gateway, peopleCount, seed)
  const ownHost = routing === 'subdomain' ? ({ hasOwnHost: true } as const) : {}
  const rules = {
    ...ownHost,
    stripPrefix: true,
    rewriteLocation: true,
    forwardToken: 'scoped',
    allowHeaders: [],
  } as const
  const types = Object.fromEntries(
    ['a', 'b', 'c', 'd', 'e'].map((name) => [
      name,
      {
        ...rules,
        displayName: name,
        access: name === 'd' ? ('authenticated' as const) : name === 'e' ? ('public' as const) : ('owner' as const),
      },
    ]),
  )
  const settings = { ...settingsOf(await world.tunnels.listen()), types }
  await world.begin(routing === 'path' ? settings : { ...settings, containerHosts })
  const ports = [port, ...(await others())]
  const tokens = await Promise.all(world.people.map(({ userId }) => tokenFor(userId, { expiresIn: 86_400 })))
  const hostTokens = new Map<string, string>()
  for (const { name, ownerId } of routing === 'path' ? [] : world.prefixes)
    hostTokens.set(name, await tokenFor(ownerId, { expiresIn: 86_400, audience: `/${name}`, sid: `s${ownerId}` }))
  const begun = Date.now()
  const all = Array.from({ length: clients }, (_, index) => {
    const userId = 1 + (index % peopleCount)
    const { prefixes, history, sharing } = world
    const where = { port: ports[index % ports.length] ?? port, prefixes, history, sharing }
    const token = tokens[userId - 1] ?? ''
    const email = world.people[userId - 1]?.email ?? ''
    const who = { userId, email, addressing: routing === 'path' ? byPath(token) : byHost(token, hostTokens) }
    return new OracleClient(where, who, new Random(seed + index + 1), counts, requests).run()
  })
  const stop = new AbortController()
  const isOver = () => stop.signal.aborted
  const changing = (async () => {
    const before = world.changes
    while (!isOver()) {
      const due = ((Date.now() - begun) / 1000) * changesPerSecond
      while (!isOver() && world.changes - before < due) await world.step()
      await sleep(pace)
    }
    return world.changes - before
  })()
  const telling = setInterval(() => progress(counts.requests), 5_000)
  await Promise.all(all)
  const took = Date.now() - begun
  stop.abort()
  const changes = await changing
  clearInterval(telling)
  await world.end()
  return { ...counts, ...world.counts, changes, took }
}
