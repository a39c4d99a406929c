/** A colour in sRGB; each part from 0 to 255. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** Required contrast of text (WCAG 2.2, 1.4.3, level AA). */
export const requiredContrast = 4.5

/** Reads `#rrggbb` or `#rgb`. @returns undefined for anything else */
export function parseColor(text: string): Rgb | undefined {
  const [, short, long] = /^#(?:([\da-f]{3})|([\da-f]{6}))$/i.exec(text) ?? []
  const digits = long ?? short?.replace(/./g, '$&$&')
  if (digits === undefined) return undefined
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16)
  return [part(0), part(2), part(4)]
}

/** The colour as `#rrggbb`. */
export const formatColor = (color: Rgb) =>
  `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`

/** Mixes two colours. @param share of the second one, from 0 to 1 */
export const mix = (first: Rgb, second: Rgb, share: number): Rgb => {
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
