import { crashPoints, type CrashPoint, type CrashScope } from '#/machine/crash-points.ts'
import { Random } from '../gateway/fuzz/random.ts'
import { behindBack, type BehindBack } from './world/engine-view.ts'
import type { GroupVerb } from './operations/groups.ts'
import type { MailVice } from './faults/scripted-mail-server.ts'
import { badTypes, colours, goodTypes, type BadType, type Colour, type GoodType } from './world/templates.ts'

/** One operation of a user. `who` is the number of an ordinary person. */
export type Operation =
  | { readonly name: 'launch' | 'visit' | 'talk'; readonly who: number; readonly type: GoodType }
  | {
      readonly name: 'launch-files' | 'snapshot' | 'restore-home' | 'restore-used' | 'reset-home'
      readonly who: number
    }
  | { readonly name: 'launch-chosen'; readonly who: number; readonly colour: Colour }
  | { readonly name: 'share' | 'end-shares'; readonly who: number }
  | { readonly name: 'launch-bad'; readonly who: number; readonly type: BadType }
  | { readonly name: 'launch-at-once'; readonly who: number; readonly type: GoodType; readonly times: number }
  | { readonly name: 'restart' | 'look' | 'log-out' | 'sign-in'; readonly who: number }
  | { readonly name: 'list'; readonly who: number }
  | { readonly name: 'launch-in-group'; readonly who: number }
  | { readonly name: 'group'; readonly verb: GroupVerb }
  | { readonly name: 'club'; readonly verb: 'block' | 'unblock' }
  | { readonly name: 'verify-at-once'; readonly who: number; readonly times: number }
  | { readonly name: 'request-at-once'; readonly times: number }
  | { readonly name: 'guest' }
  | { readonly name: 'block' | 'unblock'; readonly who: number; readonly type: GoodType }
  | { readonly name: 'bulk-block' | 'bulk-unblock' | 'block-user' | 'unblock-user'; readonly who: number }
  | { readonly name: 'delete-user'; readonly who: number; readonly isPurge: boolean }
  | { readonly name: 'delete-container'; readonly who: number; readonly type: GoodType; readonly isPurge: boolean }

/** What is broken while a step's operations run. */
export type Fault =
  | { readonly kind: 'none' }
  | { readonly kind: 'kill'; readonly point: CrashPoint; readonly scope: CrashScope; readonly who: number }
  | { readonly kind: 'kill-anywhere'; readonly scope: CrashScope; readonly after: number }
  | { readonly kind: 'engine-refused'; readonly time: number }
  | { readonly kind: 'engine-hanging'; readonly time: number }
  | { readonly kind: 'engine-cut'; readonly time: number }
  | { readonly kind: 'engine-slow'; readonly time: number; readonly delay: number }
  | ({ readonly kind: 'engine-409' } & EngineRefusal)
  | ({ readonly kind: 'engine-500' } & EngineRefusal)
  | { readonly kind: 'events-dropped' }
  | { readonly kind: `container-${BehindBack}`; readonly who: number; readonly type: GoodType }
  | { readonly kind: `mail-${MailVice}` }
  | { readonly kind: 'store-locked'; readonly time: number }
  | { readonly kind: `engine-${'stopped' | 'restarted' | 'killed'}`; readonly time: number }
  | FurtherFault

/** What concerns one container or one part of the store: everything else goes on as if nothing were. */
export type FurtherFault =
  | { readonly kind: 'engine-one-hung'; readonly who: number; readonly type: GoodType; readonly time: number }
  | { readonly kind: 'engine-slow-lists'; readonly time: number; readonly delay: number }
  | { readonly kind: 'store-failing-hold'; readonly who: number; readonly time: number }
  | { readonly kind: 'store-deadlock'; readonly who: number }
  /** ms */
  | { readonly kind: 'clock-jump'; readonly by: number }

const furtherKinds: readonly Fault['kind'][] = [
  'engine-one-hung',
  'engine-slow-lists',
  'store-failing-hold',
  'store-deadlock',
  'clock-jump',
] satisfies FurtherFault['kind'][]

export const isFurther = (fault: Fault): fault is FurtherFault => furtherKinds.includes(fault.kind)

interface EngineRefusal {
  readonly time: number
  readonly calls: EngineCall
  /** Whether the engine did it all the same. */
  readonly isDone: boolean
}

/** Calls to the engine that can be chosen to fail. */
export const engineCalls = ['create', 'start', 'stop', 'remove', 'list', 'inspect'] as const
export type EngineCall = (typeof engineCalls)[number]

export interface Step {
  readonly operations: readonly Operation[]
  readonly fault: Fault
}

export interface PlanSettings {
  readonly people: number
  /** Steps that kill at a point or anywhere. */
  readonly kills: number
  /** Steps with any other fault, or none. */
  readonly others: number
  /** Whether the engine may be stopped and killed, too. */
  readonly ownsEngine: boolean
  /** Whether there is the time for every second lock of the store to last half a minute. */
  readonly hasTime: boolean
}

/** A run: what is done and broken while processes die, and then what is while they go on. */
export interface Plan {
  readonly mortal: readonly Step[]
  readonly lasting: readonly Step[]
}

/** The same for the same seed and settings, whatever Berth answers. */
export function makePlan(seed: number, settings: PlanSettings): Plan {
  const random = new Random(seed)
  const kills = repeat(settings.kills, shuffled(random, killFaults(random, settings)))
  const others = () => repeat(Math.ceil(settings.others / 2), shuffled(random, otherFaults(random, settings)))
  const withOperations = (fault: Fault): Step => ({ fault, operations: operationsFor(random, settings, fault) })
  return {
    mortal: shuffled(random, [...kills, ...others()]).map(withOperations),
    lasting: others().map(withOperations),
  }
}

/** Each point with each scope, and some deaths at any moment. */
function killFaults(random: Random, { people, kills }: PlanSettings): Fault[] {
  const rounds = Math.max(1, Math.ceil(kills / (crashPoints.length * 2 + 4)))
  return Array.from({ length: rounds }, () => {
    const scopes = ['api', 'all'] as const
    const points = crashPoints.flatMap((point) =>
      scopes.map((scope): Fault => ({ kind: 'kill', point, scope, who: random.below(people) })),
    )
    const anywhere = [0, 1].flatMap(() =>
      scopes.map((scope): Fault => ({ kind: 'kill-anywhere', scope, after: random.below(1_200) })),
    )
    return shuffled(random, [...points, ...anywhere])
  }).flat()
}

function otherFaults(random: Random, { people, ownsEngine, others, hasTime }: PlanSettings): Fault[] {
  const time = () => 2_000 + random.below(5_000)
  const who = () => random.below(people)
  const type = () => random.oneOf(goodTypes)
  const round = (): Fault[] => [
    { kind: 'none' },
    { kind: 'none' },
    { kind: 'engine-refused', time: time() },
    { kind: 'engine-hanging', time: time() + 4_000 },
    { kind: 'engine-cut', time: time() },
    { kind: 'engine-slow', time: time() + 3_000, delay: 1_000 + random.below(9_000) },
    ...(['engine-409', 'engine-500'] as const).map((kind): Fault => ({
      kind,
      time: time(),
      calls: random.oneOf(engineCalls),
      isDone: random.happens(0.5),
    })),
    { kind: 'events-dropped' },
    ...behindBack.map((what): Fault => ({ kind: `container-${what}`, who: who(), type: type() })),
    ...(['down', 'refusing', 'greylisting', 'tarpit', 'silent'] as const).map((vice): Fault => ({
      kind: `mail-${vice}`,
    })),
    { kind: 'store-locked', time: hasTime && random.happens(0.5) ? 30_000 : time() },
    { kind: 'engine-one-hung', who: who(), type: type(), time: time() + 5_000 },
    { kind: 'engine-slow-lists', time: time() + 8_000, delay: 5_000 + random.below(5_000) },
    { kind: 'store-failing-hold', who: who(), time: 3_000 + random.below(4_000) },
    { kind: 'store-deadlock', who: who() },
    { kind: 'clock-jump', by: 1_200_000 },
    ...(ownsEngine
      ? (['engine-stopped', 'engine-restarted', 'engine-killed'] as const).map((kind): Fault => ({
          kind,
          time: time(),
        }))
      : []),
  ]
  const rounds = Math.max(1, Math.ceil(others / 2 / round().length))
  return Array.from({ length: rounds }, () => shuffled(random, round())).flat()
}

/** Writers are different people, so that it can be known what is to be expected of each. */
function operationsFor(random: Random, { people }: PlanSettings, fault: Fault): Operation[] {
  if (fault.kind === 'kill' || fault.kind === 'store-deadlock') return []
  const crowd = shuffled(
    random,
    Array.from({ length: people }, (_, who) => who),
  )
  const count = Math.min(crowd.length, 2 + random.below(4))
  const isGroupStep = random.happens(0.3)
  const some = crowd.slice(0, count)
  const chosen = isGroupStep
    ? [groupOperation(random), ...clubOperations(random), ...some.map((who) => memberOperation(random, who))]
    : some.map((who) => operationOf(random, who))
  if (fault.kind.startsWith('mail-')) chosen.unshift({ name: 'sign-in', who: crowd[0] ?? 0 }, { name: 'guest' })
  return chosen
}

/** Stops most often: what they promise ends with the next start. */
function groupOperation(random: Random): Operation {
  return { name: 'group', verb: random.oneOf(['stop', 'stop', 'block', 'unblock', 'end', 'reopen', 'start']) }
}

/** The second group blocks and unblocks the same containers, so that each may be blocked by one, both or none. */
function clubOperations(random: Random): Operation[] {
  return random.happens(0.5) ? [{ name: 'club', verb: random.oneOf(['block', 'unblock']) }] : []
}

/** What goes on beside a change of the whole class: nothing that blocks or deletes, of which its order would matter. */
function memberOperation(random: Random, who: number): Operation {
  return random.oneOf<() => Operation>([
    () => ({ name: 'launch-in-group', who }),
    () => ({ name: 'launch-in-group', who }),
    () => ({ name: 'launch', who, type: random.oneOf(goodTypes) }),
    () => ({ name: 'visit', who, type: random.oneOf(goodTypes) }),
    () => ({ name: 'look', who }),
  ])()
}

/** What people do most stands most often. */
function operationOf(random: Random, who: number): Operation {
  const type = random.oneOf(goodTypes)
  return random.oneOf<() => Operation>([
    () => ({ name: 'launch', who, type }),
    () => ({ name: 'launch', who, type }),
    () => ({ name: 'launch-in-group', who }),
    () => ({ name: 'launch-at-once', who, type, times: 4 }),
    () => ({ name: 'launch-chosen', who, colour: random.oneOf(colours) }),
    () => ({ name: 'share', who }),
    () => ({ name: 'share', who }),
    () => ({ name: 'end-shares', who }),
    () => ({ name: 'launch-bad', who, type: random.oneOf(badTypes) }),
    () => ({ name: 'restart', who }),
    () => ({ name: 'visit', who, type }),
    () => ({ name: 'talk', who, type }),
    () => ({ name: 'launch-files', who }),
    () => ({ name: 'snapshot', who }),
    () => ({ name: 'restore-home', who }),
    () => ({ name: 'restore-used', who }),
    () => ({ name: 'reset-home', who }),
    () => ({ name: 'look', who }),
    () => ({ name: 'list', who }),
    () => ({ name: 'log-out', who }),
    () => ({ name: 'sign-in', who }),
    () => ({ name: 'verify-at-once', who, times: 5 }),
    () => ({ name: 'guest' }),
    () => ({ name: 'request-at-once', times: 55 }),
    () => ({ name: 'block', who, type }),
    () => ({ name: 'unblock', who, type }),
    () => ({ name: 'bulk-block', who }),
    () => ({ name: 'bulk-unblock', who }),
    () => ({ name: 'block-user', who }),
    () => ({ name: 'unblock-user', who }),
    () => ({ name: 'unblock-user', who }),
    () => ({ name: 'delete-user', who, isPurge: random.happens(0.3) }),
    () => ({ name: 'delete-container', who, type, isPurge: random.happens(0.3) }),
  ])()
}

function shuffled<T>(random: Random, all: readonly T[]): T[] {
  const result = [...all]
  for (let last = result.length - 1; last > 0; last--) {
    const other = random.below(last + 1)
    ;[result[last], result[other]] = [result[other] as T, result[last] as T]
  }
  return result
}

/** The first so many. */
const repeat = <T>(count: number, all: readonly T[]): T[] => all.slice(0, count)
