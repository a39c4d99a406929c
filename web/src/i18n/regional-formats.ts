import type { Language } from '@berth/api/boot.ts'
import type { DiskEvent } from '@berth/api/schemas/container.ts'

/** Size in bytes, name, and decimals. */
type Unit = readonly [size: number, name: string, digits: number]

/** The units of registries, and those of limits. */
const units = {
  decimal: [
    [1e9, 'GB', 1],
    [1e6, 'MB', 0],
    [1e3, 'kB', 0],
    [1, 'B', 0],
  ],
  binary: [
    [2 ** 30, 'GiB', 1],
    [2 ** 20, 'MiB', 0],
    [2 ** 10, 'KiB', 0],
  ],
} as const satisfies Record<string, readonly Unit[]>

/** A part and its whole in one unit, to be formatted in the reader's language. */
interface Share {
  readonly part: number
  readonly whole: number
  readonly unit: string
  /** Decimals. */
  readonly digits: number
}

/** Both in the unit of the whole: "120 of 400 MB". @param part and whole in bytes */
export function shareOf(part: number, whole: number, kind: keyof typeof units): Share {
  const all: readonly Unit[] = units[kind]
  const [size, unit, digits] = all.find(([min]) => whole >= min) ?? all.at(-1)!
  return { part: part / size, whole: whole / size, unit, digits }
}

/** Formats a number, as `useFormatter().number` of use-intl does. */
export type WriteNumber = (
  value: number,
  how: { minimumFractionDigits: number; maximumFractionDigits: number },
) => string

/** The values of a sentence with `{part}`, `{whole}` and `{unit}`. */
export function formatShare({ part, whole, unit, digits }: Share, write: WriteNumber) {
  const how = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return { part: write(part, how), whole: write(whole, how), unit }
}

/** A limit that is nearly used up: the key of its sentence in `dashboard.disk`, and the values. */
export function diskUsageText({ type, used, limit }: Omit<DiskEvent, 'measured'>, write: WriteNumber) {
  const key = type === null ? ('all' as const) : ('one' as const)
  return { key, values: formatShare(shareOf(used, limit, 'binary'), write) }
}

/**
 * The language with the reader's region: English dates differ between London and New York.
 * @param wanted by the browser, most preferred first @returns the language itself when the browser wants no variant of
 * it
 */
export const regionalLocale = (language: Language, wanted: readonly string[]): string =>
  wanted.find((each) => each.toLowerCase().split('-')[0] === language) ?? language
