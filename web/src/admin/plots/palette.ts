import { useSyncExternalStore } from 'react'

/** Colours of a plot as a canvas takes them. */
export interface Palette {
  readonly first: string
  readonly second: string
  readonly bad: string
  readonly text: string
  readonly grid: string
}

const names = ['first', 'second', 'bad', 'text', 'grid'] as const

/** Whatever changes the colours of the page. */
const causes = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)', '(forced-colors: active)']

function subscribe(listener: () => void): () => void {
  const queries = causes.map((cause) => matchMedia(cause))
  for (const query of queries) query.addEventListener('change', listener)
  return () => {
    for (const query of queries) query.removeEventListener('change', listener)
  }
}

/** As text, so that React sees what changed. */
const read = () => names.map(colourOf).join('|')

/** The colour of a token (`--plot-…` in plots.css): a canvas knows neither custom properties nor colours of the system. */
function colourOf(name: string): string {
  const probe = document.createElement('i')
  probe.style.setProperty('forced-color-adjust', 'none')
  probe.style.color = `var(--plot-${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** The colours of the page now; the component renders again when they change. */
export function usePalette(): Palette {
  const colours = useSyncExternalStore(subscribe, read).split('|')
  return Object.fromEntries(names.map((name, index) => [name, colours[index]])) as unknown as Palette
}
