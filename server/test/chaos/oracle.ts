import { setTimeout as sleep } from 'node:timers/promises'
import type { Seen } from './world/engine-view.ts'
import {
  acceptsGoodTokens,
  leadsEverybodyHome,
  refusesOldTokens,
  refusesTheBlocked,
} from './invariants/at-the-gateway.ts'
import { hasChosenParameters, opensWhatIsShared } from './invariants/at-shared-apps.ts'
import { endsWithTheGroup, refusesLaunchesInTheGroup, staysStopped } from './invariants/in-the-group.ts'
import {
  hasRecordsFor,
  namesOwnContainers,
  runsNothingBlocked,
  runsOneOfEach,
  saysWhatRuns,
} from './invariants/in-the-engine.ts'
import { hasWholeHomes, listsWholeSnapshots } from './invariants/in-the-homes.ts'
import {
  hasAuditedEverything,
  hasOneFirstAdmin,
  hasWholeAuditLog,
  isDurable,
  keepsLinkLimit,
  sharesNoContainer,
} from './invariants/in-the-store.ts'
import type { Snapshot } from './world/store-view.ts'
import type { World } from './world/world.ts'

/** Store and engine at about the same moment. */
interface View {
  readonly stored: Snapshot
  readonly all: readonly Seen[]
  readonly running: readonly Seen[]
}

interface Invariant {
  readonly words: string
  /** How long after a fault it may take to become true, in ms; 0: it is true at every moment. */
  readonly within: number
  readonly check: (world: World, view: View) => string[] | Promise<string[]>
}

/** The reconciler's longest pause, and how long a block may take to be carried out; in ms. */
const soon = 30_000
const stopsWithin = 5_000

const invariants: readonly Invariant[] = [
  { words: 'what was answered with 200 is stored', within: 0, check: (world, { stored }) => isDurable(world, stored) },
  {
    words: 'exactly one first administrator',
    within: 0,
    check: (world, { stored }) => hasOneFirstAdmin(world, stored),
  },
  { words: 'links per address and hour', within: 0, check: (world, { stored }) => keepsLinkLimit(world, stored) },
  { words: 'no container on two records', within: 0, check: (world, { stored }) => sharesNoContainer(world, stored) },
  {
    words: 'one audit row for each change',
    within: 0,
    check: (world, { stored }) => hasAuditedEverything(world, stored),
  },
  { words: 'the audit log is whole', within: 0, check: (world, { stored }) => hasWholeAuditLog(world, stored) },
  {
    words: 'one container runs of each user and type',
    within: 0,
    check: (_world, { running }) => runsOneOfEach(running),
  },
  { words: 'records name their own', within: 0, check: (_world, { all, stored }) => namesOwnContainers(all, stored) },
  { words: 'foreign containers are not touched', within: 0, check: ({ engine }) => engine.harmedStrangers() },
  { words: 'old tokens are refused', within: 0, check: refusesOldTokens },
  { words: 'good tokens are accepted', within: 0, check: acceptsGoodTokens },
  { words: 'what is blocked is refused', within: 0, check: (world, { stored }) => refusesTheBlocked(world, stored) },
  { words: 'snapshots are whole', within: 0, check: (world) => listsWholeSnapshots(world) },
  {
    words: 'homes and restored folders are whole or not there',
    within: soon,
    check: (world) => hasWholeHomes(world),
  },
  {
    words: 'what is blocked does not run',
    within: stopsWithin,
    check: (_world, { running, stored }) => runsNothingBlocked(running, stored),
  },
  {
    words: 'launches in a group that is over or blocked are refused',
    within: 0,
    check: (world, { stored }) => refusesLaunchesInTheGroup(world, stored),
  },
  {
    words: 'what a group has stopped does not run before it is started',
    within: stopsWithin,
    check: (world, { running }) => staysStopped(world, running),
  },
  {
    words: 'nothing of a group that is over runs',
    within: soon,
    check: (world, { running, stored }) => endsWithTheGroup(world, running, stored),
  },
  {
    words: 'nothing runs without a record',
    within: soon,
    check: (_world, { running, stored }) => hasRecordsFor(running, stored),
  },
  { words: 'status says what is', within: soon, check: (world, { running }) => saysWhatRuns(world, running) },
  {
    words: 'each user reaches their own app and no other',
    within: soon,
    check: (world, { running, stored }) => leadsEverybodyHome(world, running, stored),
  },
  {
    words: 'a visitor reaches what is shared with them and nothing else',
    within: soon,
    check: (world, { running, stored }) => opensWhatIsShared(world, running, stored),
  },
  {
    words: 'apps have the parameters that their owners chose',
    within: soon,
    check: (world, { running, stored }) => hasChosenParameters(world, running, stored),
  },
]

/** What an oracle found, and how often it looked. */
export class Verdict {
  readonly violations: string[] = []
  /** Checks made, by the invariant's words. */
  readonly checks = new Map<string, number>()
  /** The longest that any took to become true, in ms. */
  readonly slowest = new Map<string, number>()

  count(words: string, took: number): void {
    this.checks.set(words, (this.checks.get(words) ?? 0) + 1)
    this.slowest.set(words, Math.max(this.slowest.get(words) ?? 0, took))
  }
}

/** Compares store, engine and gateway when all faults are over. @returns what is wrong, in words */
export async function consult(world: World, verdict: Verdict): Promise<string[]> {
  const begun = performance.now()
  const wrong = world.ledger.takeComplaints()
  let waiting = invariants
  for (;;) {
    const view = await look(world)
    const results = await Promise.all(waiting.map(async (each) => ({ each, found: await each.check(world, view) })))
    const took = performance.now() - begun
    const isOver = ({ each, found }: (typeof results)[number]) =>
      found.length === 0 || took >= each.within * world.settings.leniency
    for (const { each, found } of results.filter(isOver)) {
      verdict.count(each.words, each.within === 0 ? 0 : took)
      for (const words of found)
        wrong.push(`${each.words}: ${words}${each.within > 0 ? ` (for ${Math.round(took)} ms)` : ''}`)
    }
    waiting = results.filter((result) => !isOver(result)).map(({ each }) => each)
    if (waiting.length === 0) break
    await sleep(250)
  }
  return [...wrong, ...world.ledger.takeComplaints()]
}

/** The store first: what is blocked afterwards may still run, what was blocked before may not for long. */
async function look({ store, engine }: World): Promise<View> {
  const stored = await store.snapshot()
  const [all, running] = await Promise.all([engine.containers(), engine.running()])
  return { stored, all, running }
}
