import { median } from '../figures.ts'
import type { Load } from './load/wrk.ts'
import type { Target } from './proxies.ts'
import { cpuTime } from './usage.ts'

/** One round of a load at a proxy. */
export interface Sample {
  /** Microseconds of the proxy's CPU per unit. */
  readonly cpu: number
  readonly perSecond: number
  /** CPU share of its core that the proxy used: below 0.9, something else was the bottleneck. */
  readonly busy: number
}

export interface Comparison {
  readonly ours: Sample
  readonly peer: Sample
  /** Our gateway against the peer, CPU per unit. */
  readonly ratio: number
}

export type Loading = (target: Target, seconds: number) => Promise<Load>

/**
 * Duration of a load in seconds: enough to warm the proxies up, and to make the 10 ms resolution of CPU time
 * irrelevant.
 */
const duration = { warmUp: 1, measured: 2 }

/**
 * Our gateway and a peer alternate, and so does the order. Figures are medians of the rounds; the ratio is the median
 * of the rounds' ratios, because a machine's speed varies and both sides of a round share it.
 */
export async function compare(ours: Target, peer: Target, load: Loading, rounds: number): Promise<Comparison> {
  for (const target of [ours, peer]) await load(target, duration.warmUp)
  const pairs: { ours: Sample; peer: Sample }[] = []
  for (let round = 0; round < rounds; round++) {
    const turns = round % 2 === 0 ? [ours, peer] : [peer, ours]
    const samples = new Map<Target, Sample>()
    for (const target of turns) samples.set(target, await sample(target, load))
    pairs.push({ ours: samples.get(ours) as Sample, peer: samples.get(peer) as Sample })
  }
  return {
    ours: middle(pairs.map((pair) => pair.ours)),
    peer: middle(pairs.map((pair) => pair.peer)),
    ratio: median(pairs.map((pair) => pair.ours.cpu / pair.peer.cpu)),
  }
}

async function sample(target: Target, load: Loading): Promise<Sample> {
  const before = cpuTime(target.pid)
  const { units, seconds } = await load(target, duration.measured)
  const used = cpuTime(target.pid) - before
  return { cpu: used / units, perSecond: units / seconds, busy: used / 1e6 / seconds }
}

function middle(samples: readonly Sample[]): Sample {
  const of = (key: keyof Sample) => median(samples.map((sample) => sample[key]))
  return { cpu: of('cpu'), perSecond: of('perSecond'), busy: of('busy') }
}
