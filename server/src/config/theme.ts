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

/** A colour in sRGB; each part from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** Required contrast of text (WCAG 2.2, 1.4.3, level AA). */
const requiredContrast = 4.5

/** Reads `#rrggbb` or `#rgb`. @returns undefined for anything else */
export function parseColor(text: string): Rgb | undefined {
  const [, short, long] = /^#(?:([\da-f]{3})|([\da-f]{6}))$/i.exec(text) ?? []
  const digits = long ?? short?.replace(/./g, '$&$&')
  if (digits === undefined) return undefined
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16)
  return [part(0), part(2), part(4)]
}

/** The colour as `#rrggbb`. */
const formatColor = (color: Rgb) => `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** Mixes two colours. @param share of the second one, from 0 to 1 */
const mix = (first: Rgb, second: Rgb, share: number): Rgb => {
  const part = (at: 0 | 1 | 2) => Math.round(first[at] * (1 - share) + second[at] * share)
  return [part(0), part(1), part(2)]
}

/** Contrast ratio of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastRatio(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [relativeLuminance(one), relativeLuminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** WCAG 2.2, "relative luminance". */
function relativeLuminance([red, green, blue]: Rgb): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

const linear = (part: number) => {
  const share = part / 255
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
}
