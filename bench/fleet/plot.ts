import type { Level } from './report.ts'
import { quantile } from './report.ts'
import type { Finding } from './scenarios.ts'

/** One line of a panel: a value at each size; NaN where nothing was measured. */
interface Series {
  readonly name: string
  readonly colour: string
  readonly values: readonly number[]
}

interface Panel {
  readonly title: string
  readonly series: readonly Series[]
}

const [width, height, gap, top, bottom] = [240, 150, 50, 40, 46]
/** Readable on white and on black. */
const [text, grid, colours] = ['#7d8590', '#7d859055', ['#2f81f7', '#d29922']] as const

/** The figures by number of containers, as SVG without a background. */
export function plot(levels: readonly Level[]): string {
  const sizes = levels.map(({ size }) => size.containers)
  const panels = panelsOf(levels)
  const total = panels.length * (width + gap) + gap
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${top + height + bottom}" font-family="sans-serif" font-size="11" fill="${text}">`,
    ...panels.map((panel, index) => drawn(panel, sizes, gap + index * (width + gap))),
    '</svg>\n',
  ].join('\n')
}

function panelsOf(levels: readonly Level[]): Panel[] {
  const at = (scenario: string, value: (finding: Finding) => number) =>
    levels.map(({ findings }) => {
      const finding = findings.find((each) => each.scenario === scenario)
      return finding ? value(finding) : NaN
    })
  const spread = (part: number) => at('looking', ({ answers }) => quantile(answers.times.get('list') ?? [], part))
  const resident = (which: 'gateway' | 'api') =>
    levels.map(({ findings }) => Math.max(...findings.map(({ usage }) => usage.resident[which])))
  const line = (name: string, index: number, values: readonly number[]) => ({
    name,
    colour: colours[index] ?? text,
    values,
  })
  return [
    { title: 'list of one person, ms', series: [line('p50', 0, spread(0.5)), line('p99', 1, spread(0.99))] },
    {
      title: 'largest resident size, MB',
      series: [line('gateway', 0, resident('gateway')), line('API', 1, resident('api'))],
    },
    {
      title: 'idle, % of a core',
      series: [
        line(
          'gateway',
          0,
          at('steady', ({ usage }) => usage.cores.gateway * 100),
        ),
        line(
          'API',
          1,
          at('steady', ({ usage }) => usage.cores.api * 100),
        ),
      ],
    },
  ]
}

function drawn({ title, series }: Panel, sizes: readonly number[], left: number): string {
  const max = niceAbove(Math.max(1, ...series.flatMap(({ values }) => values).filter(Number.isFinite)))
  const x = (size: number) => left + (size / Math.max(...sizes)) * width
  const y = (value: number) => top + height - (value / max) * height
  const ticks = [0, max / 2, max].map(
    (value) =>
      `<path d="M${left} ${y(value)}h${width}" stroke="${grid}"/><text x="${left - 4}" y="${y(value) + 4}" text-anchor="end">${value}</text>`,
  )
  const names = sizes.map(
    (size) => `<text x="${x(size)}" y="${top + height + 16}" text-anchor="middle">${size / 1000}k</text>`,
  )
  const lines = series.map(({ name, colour, values }, index) => {
    const points = values.map((value, at) => [x(sizes[at] ?? 0), y(value)]).filter(([, each]) => Number.isFinite(each))
    return [
      `<polyline points="${points.map((point) => point.map((each) => each?.toFixed(1)).join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...points.map(([px, py]) => `<circle cx="${px?.toFixed(1)}" cy="${py?.toFixed(1)}" r="3" fill="${colour}"/>`),
      `<text x="${left + index * 80}" y="${top + height + 36}" fill="${colour}">${name}</text>`,
    ].join('')
  })
  return [`<text x="${left}" y="20" font-weight="bold">${title}</text>`, ...ticks, ...names, ...lines].join('\n')
}

/** 1, 2 or 5 times a power of ten. */
function niceAbove(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5].find((each) => each * unit >= value) ?? 10) * unit
}
