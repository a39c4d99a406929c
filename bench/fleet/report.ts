import type { Both } from './program.ts'
import type { Finding } from './scenarios.ts'
import type { Size } from './seed.ts'

/** The findings at one size. */
export interface Level {
  readonly size: Size
  readonly findings: readonly Finding[]
}

const heading = [
  'containers',
  'what happens',
  'list p50, p99 ms',
  'launch of what runs',
  'me',
  'event loop late p99, max ms',
  'resident MB',
  'together, shared pages once',
  'plain sum',
  'peak MB',
  'cores',
  'besides',
]

/** One Markdown row for each scenario at each size. Pairs are of the gateway process and the API process. */
export function table(levels: readonly Level[]): string {
  const rows = levels.flatMap(({ size, findings }) => findings.map((finding) => row(size, finding)))
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heading), line(heading.map(() => '---')), ...rows.map(line)].join('\n')
}

function row({ containers }: Size, { scenario, usage, answers, notes }: Finding): string[] {
  const { cores, resident, inAll, plain, peak, delay } = usage
  const spread = (name: 'list' | 'launch of what runs' | 'me') => {
    const times = answers.times.get(name)
    return times ? `${quantile(times, 0.5).toFixed(0)}, ${quantile(times, 0.99).toFixed(0)}` : ''
  }
  return [
    containers.toLocaleString('en'),
    scenario,
    spread('list'),
    spread('launch of what runs'),
    spread('me'),
    [delay.gateway, delay.api].map(({ p99, max }) => `${p99.toFixed(0)}, ${max.toFixed(0)}`).join('; '),
    pair(resident),
    inAll.toFixed(0),
    plain.toFixed(0),
    pair(peak),
    [cores.gateway, cores.api].map((part) => part.toFixed(3)).join('; '),
    Object.entries(notes)
      .map(([name, value]) => `${name}: ${value}`)
      .join('; '),
  ]
}

const pair = ({ gateway, api }: Both<number>) => `${gateway.toFixed(0)}; ${api.toFixed(0)}`

/** Further findings: refusals, and calls of the engine. */
export function details({ scenario, answers, calls }: Finding): string {
  const asked = Object.entries(calls).map(([name, perSecond]) => `${name} ${perSecond.toFixed(2)}`)
  const launches = answers.times.get('launch')
  const refusals = [...Map.groupBy(answers.refused, ({ request, why }) => `${request}: ${why}`)]
  return [
    `  ${scenario}: the engine was asked, per second: ${asked.join(', ')}`,
    ...(launches
      ? [
          `  launches: ${launches.length}, p50 ${quantile(launches, 0.5).toFixed(0)} ms, p99 ${quantile(launches, 0.99).toFixed(0)} ms`,
        ]
      : []),
    ...refusals.slice(0, 8).map(([words, each]) => `  not 200, ${each.length} times: ${words}`),
  ].join('\n')
}

/** @param part 0 to 1 */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? NaN
}
