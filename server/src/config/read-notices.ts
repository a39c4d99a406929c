import { languages, type Language, type Notice } from '@berth/api/boot.ts'
import { zonedInstant } from '#/machine/time-zone.ts'

const maxNotices = 10
const maxLength = 300
const day = 86_400_000

type Read<T> = { readonly value: T } | { readonly problem: string }

/**
 * Reads the notices of the file.
 * @param zone name of the time zone of times without one
 * @returns the end of a sentence that begins with `notices` for the first problem
 */
export function readNotices(value: unknown, zone: string): Read<Notice[]> {
  if (!Array.isArray(value) || value.length > maxNotices)
    return { problem: `must be a list of at most ${maxNotices} notices` }
  const notices: Notice[] = []
  for (const [index, each] of value.entries()) {
    const read = readNotice(each, zone)
    if ('problem' in read) return { problem: `(number ${index + 1}): ${read.problem}` }
    notices.push(read.value)
  }
  return { value: notices }
}

function readNotice(value: unknown, zone: string): Read<Notice> {
  const { text, from, until, ...others } = Object(value) as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return { problem: `${unknown} is not a field of a notice; known: text, from, until` }
  const texts = textsByLanguage(text)
  if (!texts || Object.values(texts).some((each) => !isLine(each)))
    return { problem: `text must be one line of 1 to ${maxLength} characters, or such lines by language (en, de)` }
  const [begin, end] = [readInstant(from, zone, false), readInstant(until, zone, true)]
  if (begin === undefined || end === undefined)
    return { problem: 'from and until must be a date (2026-12-19) or a time (2026-12-19T08:00)' }
  if (begin !== null && end !== null && begin >= end) return { problem: 'from must be before until' }
  return { value: { text: texts, from: isoOrNull(begin), until: isoOrNull(end) } }
}

/** One text for all languages, or one for each; a language that is missing has that of the first one. */
export function textsByLanguage(value: unknown): Readonly<Record<Language, string>> | undefined {
  const given = typeof value === 'string' ? { [languages[0]]: value } : (Object(value) as Record<string, unknown>)
  const names = Object.keys(given)
  const [first] = Object.values(given)
  if (typeof first !== 'string' || names.some((name) => !languages.includes(name as Language))) return undefined
  const texts = languages.map((language) => [language, given[language] ?? first] as const)
  return texts.every(([, text]) => typeof text === 'string')
    ? (Object.fromEntries(texts) as Record<Language, string>)
    : undefined
}

const isLine = (text: string) => text.trim() !== '' && [...text].length <= maxLength && !/\p{Cc}/u.test(text)

const isoOrNull = (at: number | null) => (at === null ? null : new Date(at).toISOString())

/** @param isEnd a date alone includes its day @returns ms since 1970, null for no limit, undefined when it is no time */
function readInstant(value: unknown, zone: string, isEnd: boolean): number | null | undefined {
  if (value === undefined || value === null) return null
  if (typeof value !== 'string') return undefined
  const form = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(Z|[+-]\d\d:\d\d)?)?$/.exec(value.trim())
  if (!form) return undefined
  const [, date = '', time, ownZone] = form
  const local = Date.parse(`${date}T${time ?? '00:00'}${ownZone ?? 'Z'}`)
  if (Number.isNaN(local) || new Date(Date.parse(`${date}T00:00Z`)).toISOString().slice(0, 10) !== date)
    return undefined
  if (ownZone !== undefined) return local
  return zonedInstant(time === undefined && isEnd ? local + day : local, zone)
}
