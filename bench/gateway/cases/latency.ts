import { median } from '../../figures.ts'
import { head } from '../load/heads.ts'
import { loadCore, message } from '../process.ts'
import { script, type Target } from '../proxies.ts'
import { busy } from '../routes.ts'
import type { Case } from './case.ts'

const perSecond = 1000
const seconds = 4

interface Latency {
  readonly p50: number
  readonly p99: number
}

/** The latency of one request while the proxy has little load, our gateway and nginx in turns. */
export const latencyCase: Case = {
  name: 'latency',
  async run(proxies, rounds) {
    const [ours, peer] = [await proxies.ours(), await proxies.nginx()]
    const all = new Map<Target, Latency[]>([
      [ours, []],
      [peer, []],
    ])
    for (let round = 0; round < rounds; round++) {
      for (const target of round % 2 === 0 ? [ours, peer] : [peer, ours]) all.get(target)?.push(await latencyAt(target))
    }
    const show = (target: Target, key: keyof Latency) => `${middle(all.get(target), key).toFixed(0)} us`
    const ratio = median((all.get(ours) ?? []).map(({ p50 }, round) => p50 / (all.get(peer)?.[round]?.p50 ?? NaN)))
    const slowest = middle(all.get(ours), 'p99')
    return [
      {
        title: 'latency at 1,000/s, p50, against nginx',
        ours: show(ours, 'p50'),
        peer: show(peer, 'p50'),
        ratio,
        goal: 'at most 1.1',
        isMet: ratio <= 1.1,
      },
      {
        title: 'latency at 1,000/s, p99, against nginx',
        ours: show(ours, 'p99'),
        peer: show(peer, 'p99'),
        goal: 'under 2 ms',
        isMet: slowest < 2000,
      },
    ]
  },
}

async function latencyAt({ port, tokens }: Target): Promise<Latency> {
  const heads = JSON.stringify(busy.map((route) => head('GET /', route, tokens)))
  const load = script('load/latency', loadCore, [port, seconds, perSecond, heads].map(String))
  try {
    const { sent, microseconds } = await message<{ sent: number; microseconds: number[] }>(load)
    if (microseconds.length < sent) throw new Error(`${sent - microseconds.length} of ${sent} requests had no answer`)
    const sorted = microseconds.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? NaN
    return { p50: at(0.5), p99: at(0.99) }
  } finally {
    await load.end()
  }
}

function middle(latencies: readonly Latency[] = [], key: keyof Latency): number {
  return median(latencies.map((latency) => latency[key]))
}
