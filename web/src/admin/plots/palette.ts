import { useSyncExternalStore } from 'react'

/** Colours of a plot in the canvas's notation. */
export interface Palette {
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

/** As text, so that React detects a change. */
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
