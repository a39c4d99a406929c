import { setTimeout as sleep } from 'node:timers/promises'
import type { Lifetime } from '../../support/berth.ts'
import { refuseSecrets } from '../../support/no-secrets.ts'
import { waitFor } from '../../support/program.ts'
import { Random } from '../../gateway/fuzz/random.ts'
import { openBench, type NodeBench } from './bench-of-nodes.ts'
import { faults } from './faults.ts'
import { ordersWithoutLead } from './order-log.ts'
import { ask } from './people.ts'
import type { PlannedFault } from './plan.ts'
import { Probes } from './probes.ts'

/** What came of one fault; times in ms. */
export interface FaultOutcome extends PlannedFault {
  /** From its end until all nodes serve everything again. */
  readonly recovery: number
  /** Longest time in which no node answered a reading request to the API. */
  readonly apiGap: number
  /** Longest time in which no node answered a request that the leader alone answers. */
  readonly leaderGap: number
  /** Longest time in which no node served any container. */
  readonly containerGap: number
}

export interface FaultReport {
  readonly outcomes: readonly FaultOutcome[]
  readonly violations: readonly string[]
  readonly counts: Readonly<Record<string, number | string>>
}

/** How long everything may take to be well again, in ms. */
const recoveryLimit = 90_000
/** In ms: without a fault between two. */
const rest = 2_000

/** @param say gets a line for each fault */
export async function runFaults(
  lifetime: Lifetime,
  seed: number,
  plan: readonly PlannedFault[],
  say: (words: string) => void,
): Promise<FaultReport> {
  const violations: string[] = []
  const violate = (words: string) => {
    violations.push(words)
    say(`! ${words}`)
  }
  const bench = await openBench(lifetime, 4, violate)
  const { people, nodes } = bench
  const probes = new Probes(nodes, people, violate)
  const random = new Random(seed)
  const over = new AbortController()
  const probing = probes.run(over.signal)
  const outcomes: FaultOutcome[] = []
  for (const planned of plan) {
    const outcome = await runFault(bench, probes, random, planned).catch((error: unknown) => {
      violate(`${planned.kind}: ${String(error)}`)
      return undefined
    })
    if (!outcome) break
    outcomes.push(outcome)
    const [api, leader, apps] = [outcome.apiGap, outcome.leaderGap, outcome.containerGap].map(seconds)
    say(
      `${planned.kind} (${seconds(planned.duration)}): no API for ${api}, no leader for ${leader}, no container for ${apps}, well after ${seconds(outcome.recovery)}`,
    )
  }
  over.abort()
  await probing
  for (const words of ordersWithoutLead(bench.orders, bench.leads())) violate(words)
  for (const node of nodes)
    try {
      refuseSecrets(node.output())
    } catch (error) {
      violate((error as Error).message)
    }
  const counts = {
    'orders to the engine, each of the node that led': bench.orders.length,
    'changes of the leader': bench.leads().length - 1,
    'requests that changed something and were answered with 200': people.answered,
    'sign-ups that were answered, each in the store': people.promised.length,
    'probes of the API, of own and of foreign containers': probes.asked,
    'of these answered with 200, each by the right container': probes.answered,
    'answers of a follower that reads the earlier primary, of before': probes.staleness.allowed,
    'longest after its cut that one was asked for (7 s are allowed)': seconds(probes.staleness.longest),
  }
  return { outcomes, violations, counts }
}

async function runFault(
  bench: NodeBench,
  probes: Probes,
  random: Random,
  planned: PlannedFault,
): Promise<FaultOutcome> {
  const { people } = bench
  const { leader, follower } = await bench.roles()
  probes.gaps.take()
  const living = new AbortController()
  const life = people.live(random, living.signal)
  await sleep(rest / 2)
  await faults[planned.kind]({ ...bench, leader, follower, staleness: probes.staleness }, planned.duration)
  const healed = performance.now()
  await bench.untilCurrent()
  living.abort()
  await life
  await people.checkPromises()
  await untilServed(bench)
  const recovery = performance.now() - healed
  await people.checkPromises()
  await sleep(rest / 2)
  const gaps = probes.gaps.take()
  return {
    ...planned,
    recovery,
    apiGap: gaps['API at any node'] ?? Number.POSITIVE_INFINITY,
    leaderGap: gaps['the leader by any node'] ?? Number.POSITIVE_INFINITY,
    containerGap: gaps['a container at any node'] ?? Number.POSITIVE_INFINITY,
  }
}

/** Every user's container is served by every node, after an unblock where there was a block. */
async function untilServed({ people, nodes }: NodeBench): Promise<void> {
  for (const person of people.all) {
    const [first] = nodes
    if (!first) return
    await waitFor(`the container of ${person.email}`, () => people.unblock(first, person), recoveryLimit)
    for (const node of nodes)
      await waitFor(
        `the container of ${person.email} at ${node.name}`,
        async () => (await ask(node, `/${person.slug}-dev/who`, person.token))?.body.trim() === person.email,
        recoveryLimit,
      )
  }
}

export const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
