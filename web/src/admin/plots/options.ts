import { useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import { isolatedIndices, stacked } from './summary.ts'

export interface Line {
  readonly label: string
  /** Null means unknown. */
  readonly values: readonly (number | null)[]
  readonly variant: 'first' | 'second' | 'bad'
}

/** A plot without its size and colours. */
export interface Drawing {
  /** Seconds since 1970, ascending; see `periods`. */
  readonly times: readonly number[]
  /** Seconds that the plot shows, up to the last of `times`. */
  readonly span: number
  readonly lines: readonly Line[]
  /** Stacked bars for counts; lines for measurements. */
  readonly isBars?: boolean
  /** Whether values add up, as those of bars do. */
  readonly isSum?: boolean
  /** Each value is that of a day or month, and `times` are their indices. */
  readonly periods?: 'day' | 'month'
  /** The scale reaches at least this far, and never beyond `top` where there is one. */
  readonly minTop: number
  readonly top?: number
  /** The allowed steps of the scale; those of decimal numbers by default. */
  readonly steps?: readonly number[]
  writeValue(value: number): string
  writeTime(seconds: number): string
}

/** Sizes in CSS pixels. */
interface Size {
  readonly width: number
  readonly height: number
}

export function dataOf({ times, lines, isBars }: Drawing): uPlot.AlignedData {
  const values = lines.map((line) => [...line.values])
  return [[...times], ...(isBars ? stacked(values) : values)]
}

/**
 * @param fontSize of the labels, in CSS pixels
 * @param onCursor receives the index below the pointer, and null when it leaves
 */
export function optionsOf(
  drawing: Drawing,
  palette: Palette,
  { width, height, fontSize, fontFamily }: Size & { fontSize: number; fontFamily: string },
  onCursor: (index: number | null) => void,
): uPlot.Options {
  const { times, span, periods, minTop, top, steps, writeValue, writeTime } = drawing
  const end = times.at(-1) ?? 0
  const range: uPlot.Range.MinMax = periods ? [-0.5, end + 0.5] : [end - span, end]
  // uPlot scales whole numbers alone to the pixels of the screen.
  const font = `${Math.round(fontSize)}px ${fontFamily}`
  return {
    width,
    height,
    padding: [fontSize, fontSize * 1.8, 0, 0],
    legend: { show: false },
    // The cursors of all plots move together, to compare them at one time.
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 }, sync: { key: 'berth' } },
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)] },
    scales: {
      x: { range: () => range, ...(periods && { time: false }) },
      y: { range: (_, __, max) => [0, top ?? Math.max(minTop, (max ?? 0) * 1.08)] },
    },
    series: [{}, ...drawing.lines.map((line) => seriesOf(line, palette, drawing))],
    axes: [
      {
        font,
        stroke: palette.text,
        grid: { show: false },
        ticks: { stroke: palette.grid, width: 1, size: 4 },
        size: fontSize * 2.4,
        space: fontSize * 5,
        values: (_, at) => at.map((time) => (periods && !Number.isInteger(time) ? '' : writeTime(time))),
        ...(periods && { incrs: [1, 2, 5, 7, 10, 15, 30, 100] }),
      },
      {
        font,
        stroke: palette.text,
        grid: { stroke: palette.grid, width: 1 },
        ticks: { show: false },
        space: fontSize * 2,
        size: (plot, texts) => widest(plot, font, texts) + fontSize,
        values: (_, at) => at.map(writeValue),
        ...(steps && { incrs: [...steps] }),
      },
    ],
  }
}

function seriesOf({ label, variant }: Line, palette: Palette, { isBars, periods }: Drawing): uPlot.Series {
  const colour = palette[variant]
  const common = { label, stroke: colour, width: 2 }
  const bars = uPlot.paths.bars?.({ size: [0.75, 24], align: periods ? 0 : -1 })
  if (isBars && bars) return { ...common, width: 0, fill: colour, paths: bars, points: { show: false } }
  return {
    ...common,
    // Distinguished without colour, too.
    ...(variant === 'second' && { dash: [5, 4] }),
    points: {
      show: true,
      size: 5,
      fill: colour,
      filter: (plot, index) => isolatedIndices(plot.data[index] as number[]),
    },
  }
}

/** In CSS pixels. */
function widest({ ctx }: uPlot, font: string, texts: readonly string[] | null): number {
  ctx.save()
  ctx.font = font
  const width = Math.max(0, ...(texts ?? []).map((text) => ctx.measureText(text).width))
  ctx.restore()
  return Math.ceil(width)
}

/** Colours of a plot in the canvas's notation. */
interface Palette {
  readonly first: string
  readonly second: string
  readonly bad: string
  readonly text: string
  readonly grid: string
}

const names = ['first', 'second', 'bad', 'text', 'grid'] as const

/** Media queries that change the colours of the page. */
const causes = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)']

function subscribe(listener: () => void): () => void {
  const queries = causes.map((cause) => matchMedia(cause))
  for (const query of queries) query.addEventListener('change', listener)
  return () => {
    for (const query of queries) query.removeEventListener('change', listener)
  }
}

/** The colours as text, so that React detects a change. */
const read = () => names.map(colourOf).join('|')

/** The colour of a token (`--plot-…` in plots.css): a canvas supports neither custom properties nor system colours. */
function colourOf(name: string): string {
  const probe = document.createElement('i')
  probe.style.setProperty('forced-color-adjust', 'none')
  probe.style.color = `var(--plot-${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** The current colours of the page; the component renders again when they change. */
export function usePalette(): Palette {
  const colours = useSyncExternalStore(subscribe, read).split('|')
  return Object.fromEntries(names.map((name, index) => [name, colours[index]])) as unknown as Palette
}
