import { contrastRatio, formatColor, mix, parseColor, requiredContrast, type Rgb } from './contrast.ts'

/** The colours of an installation, each `#rrggbb` and checked against the grounds of the pages. */
export interface Theme {
  /** Links and buttons on light grounds. */
  readonly accent: string
  /** The same on dark grounds. */
  readonly accentDark: string
  /** Rules that replace the colours of the front end and of the gateway's pages; nothing in it needs escaping. */
  readonly css: string
}

const white: Rgb = [255, 255, 255]
const black: Rgb = [0, 0, 0]
/** Grounds on which links stand: `--surface`, `--ground` and `--idle-wash` of `web/src/styles/base.css`. */
const lightGrounds: readonly Rgb[] = [white, [0xf3, 0xf6, 0xf7], [0xed, 0xf1, 0xf3]]
const darkGrounds: readonly Rgb[] = [
  [0x19, 0x24, 0x2b],
  [0x10, 0x18, 0x1d],
  [0x26, 0x34, 0x3c],
]
/** Text on buttons: `--on-accent`. A colour that is readable on every ground is readable under it, too. */
const [onAccent, onAccentDark]: readonly [Rgb, Rgb] = [white, [0x0a, 0x27, 0x30]]
/** How far the colour under the pointer is from the colour itself. */
const strongShare = 0.25
/** Step by which an accent for dark grounds is lightened until it is readable. */
const step = 0.05

/**
 * Makes a theme of the accent colours.
 * @param accentDark undefined: the accent, lightened until it is readable on dark grounds
 * @returns the theme, or each problem as the end of a sentence that begins with the name of the colour
 */
export function themeOf(
  accent: string,
  accentDark: string | undefined,
): { theme: Theme } | { problems: { color: 'accent' | 'accent_dark'; what: string }[] } {
  const light = parseColor(accent)
  const dark = accentDark === undefined ? light && lightened(light) : parseColor(accentDark)
  const problems = [
    ...problemOf('accent', light, [...lightGrounds, onAccent], 'darker'),
    ...(accentDark === undefined ? [] : problemOf('accent_dark', dark, [...darkGrounds, onAccentDark], 'lighter')),
  ]
  if (!light || !dark || problems.length > 0) return { problems }
  return { theme: { accent: formatColor(light), accentDark: formatColor(dark), css: cssOf(light, dark) } }
}

function problemOf<C extends 'accent' | 'accent_dark'>(
  color: C,
  value: Rgb | undefined,
  grounds: readonly Rgb[],
  choose: 'darker' | 'lighter',
): { color: C; what: string }[] {
  if (!value) return [{ color, what: 'must be a colour such as #8a1538, in quotes' }]
  const [worst = white] = grounds.toSorted((a, b) => contrastRatio(value, a) - contrastRatio(value, b))
  const ratio = contrastRatio(value, worst)
  if (ratio >= requiredContrast) return []
  // Rounded down: 4.496 must not read as the 4.5 that it misses.
  const shown = (Math.floor(ratio * 100) / 100).toFixed(2)
  return [
    {
      color,
      what: `${formatColor(value)} has a contrast of ${shown}:1 with ${formatColor(worst)} of the pages, and WCAG 2.2 AA requires ${requiredContrast}:1; choose a ${choose} colour`,
    },
  ]
}

const isReadable = (color: Rgb, grounds: readonly Rgb[]) =>
  grounds.every((ground) => contrastRatio(color, ground) >= requiredContrast)

/** White is readable on every dark ground, so this ends. */
function lightened(color: Rgb): Rgb {
  for (let share = 0; share < 1; share += step) {
    const lighter = mix(color, white, share)
    if (isReadable(lighter, [...darkGrounds, onAccentDark])) return lighter
  }
  return white
}

/** Twice the class, so that the order of the style sheets does not matter. */
function cssOf(light: Rgb, dark: Rgb): string {
  const rule = (accent: Rgb, strong: Rgb) =>
    `:root:root{--accent:${formatColor(accent)};--accent-strong:${formatColor(strong)}}`
  const onLight = rule(light, mix(light, black, strongShare))
  return `${onLight}@media (prefers-color-scheme:dark){${rule(dark, mix(dark, white, strongShare))}}`
}
