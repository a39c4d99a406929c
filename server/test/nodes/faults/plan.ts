import { Random } from '../../gateway/fuzz/random.ts'

/** What breaks; each is one of `faults.ts`. */
export const faultKinds = [
  'nodes cut from each other',
  'follower does not hear the leader',
  'leader cut from the database',
  'follower cut from the database',
  'database restarted',
  'database fails over',
  'follower stays at the earlier primary',
  'follower stays at the earlier primary, and the leader begins anew',
  'leader killed',
  'API process of the leader killed',
  'follower killed',
  'leader frozen',
  'follower frozen',
  'nodes restarted one after the other',
  'nodes upgraded one after the other',
] as const
export type FaultKind = (typeof faultKinds)[number]

const upgrade: FaultKind = 'nodes upgraded one after the other'

export interface PlannedFault {
  readonly kind: FaultKind
  /** How long it lasts, or how long the database is away, in ms. */
  readonly duration: number
}

/** Shortest and longest, in s; a cut is longer than a gateway may serve without a confirmation (10 s), or shorter. */
const durations: Readonly<Record<FaultKind, readonly [number, number]>> = {
  'nodes cut from each other': [3, 20],
  'follower does not hear the leader': [3, 20],
  'leader cut from the database': [2, 15],
  'follower cut from the database': [5, 25],
  'database restarted': [1, 4],
  'database fails over': [1, 8],
  'follower stays at the earlier primary': [1, 2],
  'follower stays at the earlier primary, and the leader begins anew': [4.5, 6],
  'leader killed': [1, 8],
  'API process of the leader killed': [1, 2],
  'follower killed': [1, 8],
  'leader frozen': [60, 60],
  'follower frozen': [5, 20],
  'nodes restarted one after the other': [1, 3],
  'nodes upgraded one after the other': [1, 3],
}

/** Every kind once in each round, in an order and for times that the seed decides; at the end an upgrade, which cannot be repeated. */
export function planFaults(seed: number, rounds: number, only = ''): PlannedFault[] {
  const random = new Random(seed)
  const planned = (kind: FaultKind): PlannedFault => {
    const [min, max] = durations[kind]
    return { kind, duration: 1_000 * min + random.below(1_000 * (max - min) + 1) }
  }
  const repeated = faultKinds.filter((kind) => kind !== upgrade)
  const all = Array.from({ length: rounds }, () => {
    const left = [...repeated]
    return repeated.map(() => {
      const [kind] = left.splice(random.below(left.length), 1) as [FaultKind]
      return planned(kind)
    })
  }).flat()
  return [...all, planned(upgrade)].filter(({ kind }) => new RegExp(only).test(kind))
}
