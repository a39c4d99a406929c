import { readFileSync } from 'node:fs'
import path from 'node:path'
import { LineCounter, isMap, isScalar, parseDocument } from 'yaml'
import { languages, type Language, type Notice } from '@berth/api/boot.ts'
import type { TextBlock, TextSpan } from '@berth/api/schemas/branding.ts'
import { readImageFile, type ImageFile } from '#/machine/image-file.ts'
import { zonedInstant } from '#/machine/time-zone.ts'
import { brandingFields, type BrandingField } from './branding-descriptions.ts'
import { themeOf, type Theme } from './theme.ts'

/** Names of the texts that the law of many countries asks for. */
export type LegalTextName = 'imprint' | 'privacy'

/** A legal text: kept elsewhere, or served by Berth in each language. */
export type LegalText = { readonly url: string } | { readonly blocks: Readonly<Record<Language, readonly TextBlock[]>> }

/** How an installation presents itself, as `BRANDING_FILE` says. What is null keeps Berth's own look. */
export interface Branding {
  readonly name: string | null
  readonly logo: ImageFile | null
  readonly theme: Theme | null
  readonly imprint: LegalText | null
  readonly privacy: LegalText | null
  /** In the order of the file, past and future ones included. */
  readonly notices: readonly Notice[]
}

/** Name of the product where the installation has none of its own. */
export const productName = 'Berth'

/**
 * The file of `BRANDING_FILE`, with the images and texts that it names.
 * @param zone time zone of times without one @param problems gets a sentence for each problem found
 * @returns null without such a file, or with problems
 */
export function readBrandingFile(
  file: string | null,
  readFile: (path: string) => string,
  zone: string,
  problems: string[],
): Branding | null {
  if (file === null) return null
  try {
    const read = readBranding(readFile(file), file, zone)
    problems.push(...read.problems)
    return read.branding
  } catch (error) {
    problems.push(`BRANDING_FILE: cannot read ${file}: ${(error as Error).message}`)
    return null
  }
}

/** Max characters of the name: it stands beside the account's address on a phone. */
const maxNameLength = 60

type Read<T> = { readonly value: T } | { readonly problem: string }

/**
 * Reads `BRANDING_FILE` from YAML or JSON text, and the files that it names.
 * @param file   its path, for messages, and for the paths in it @param zone time zone of times without one
 * @returns the branding, or every problem, each a sentence with line and field
 */
export function readBranding(
  text: string,
  file: string,
  zone: string,
): { branding: Branding; problems: [] } | { branding: null; problems: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(text, { uniqueKeys: true, lineCounter: lines })
  const source = `BRANDING_FILE (${file})`
  const syntax = document.errors.map(({ message }) => `${source}: ${message.split('\n')[0]?.replace(/:$/, '')}`)
  if (syntax.length > 0) return { branding: null, problems: syntax }
  const { contents } = document
  if (!isMap(contents)) return { branding: null, problems: [`${source}: must be a map of branding fields`] }
  const problems: string[] = []
  const complain = (field: string, what: string) => {
    const key = contents.items.map((pair) => pair.key).find((each) => isScalar(each) && each.value === field)
    const offset = (key as { range?: [number] } | undefined)?.range?.[0] ?? 0
    problems.push(`${source}: line ${lines.linePos(offset).line}: ${field} ${what}`)
  }
  const fields = document.toJS() as Readonly<Record<string, unknown>>
  for (const name of Object.keys(fields))
    if (!Object.hasOwn(brandingFields, name))
      complain(name, `is not a field of the branding; known: ${Object.keys(brandingFields).join(', ')}`)
  const pick = <T>(field: BrandingField, read: (value: unknown) => Read<T>): T | null => {
    if (fields[field] === undefined || fields[field] === null) return null
    const result = read(fields[field])
    if ('value' in result) return result.value
    complain(field, result.problem)
    return null
  }
  const folder = path.dirname(path.resolve(file))
  const legalText = (value: unknown) => readLegalText(value, folder)
  const branding: Branding = {
    name: pick('name', readName),
    logo: pick('logo', (value) =>
      typeof value === 'string'
        ? readImageFile(path.resolve(folder, value), { name: 'logo', maxBytes: maxLogoBytes })
        : { problem: 'must be the path of an image' },
    ),
    theme: pick('colors', readColors),
    imprint: pick('imprint', legalText),
    privacy: pick('privacy', legalText),
    notices: pick('notices', (value) => readNotices(value, zone)) ?? [],
  }
  return problems.length === 0 ? { branding, problems: [] } : { branding: null, problems }
}

/**
 * Brackets and `#` have a meaning in messages. A straight apostrophe has one, too, and a typographic one looks better.
 */
function readName(value: unknown): Read<string> {
  const name = typeof value === 'string' ? value.trim().replaceAll("'", '’') : ''
  const isRight = name !== '' && [...name].length <= maxNameLength && !/[<>{}#]|\p{Cc}/u.test(name)
  return isRight ? { value: name } : { problem: `must have 1 to ${maxNameLength} characters, none of < > { } #` }
}

function readColors(value: unknown): Read<Theme> {
  const { accent, accent_dark: accentDark, ...others } = Object(value) as Record<string, unknown>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return { problem: `${unknown} is not a colour; known: accent, accent_dark` }
  if (typeof accent !== 'string' || (accentDark !== undefined && typeof accentDark !== 'string'))
    return { problem: 'must be {accent: "#8a1538"}, or {accent: "#8a1538", accent_dark: "#f0a0b5"}' }
  const read = themeOf(accent, accentDark)
  if ('theme' in read) return { value: read.theme }
  return { problem: read.problems.map(({ color, what }) => `${color}: ${what}`).join('; ') }
}

/** @param folder that paths are relative to */
function readLegalText(value: unknown, folder: string): Read<LegalText> {
  if (typeof value === 'string' && /^https?:\/\//i.test(value))
    return URL.canParse(value) ? { value: { url: value } } : { problem: `${value} is not an address` }
  const files = textsByLanguage(value)
  if (!files)
    return { problem: 'must be an http(s) address, the path of a text file, or such paths by language (en, de)' }
  const blocks = {} as Record<Language, readonly TextBlock[]>
  for (const language of languages) {
    const read = readTextFile(path.resolve(folder, files[language]))
    if ('problem' in read) return read
    blocks[language] = read.value
  }
  return { value: { blocks } }
}

function readTextFile(file: string): Read<readonly TextBlock[]> {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    return { problem: `cannot read ${file} as UTF-8: ${(error as Error).message}` }
  }
  if (text.length > maxTextLength)
    return { problem: `${file} has ${text.length} characters; at most ${maxTextLength} are allowed` }
  const blocks = parseText(text)
  return blocks.length > 0 ? { value: blocks } : { problem: `${file} is empty` }
}

/** Max bytes of a logo: it comes with the first visit of everyone. */
const maxLogoBytes = 131_072

const maxNotices = 10
const maxNoticeLength = 300
const day = 86_400_000

/**
 * Reads the notices of the file.
 * @param zone name of the time zone of times without one
 * @returns the end of a sentence that begins with `notices` for the first problem
 */
function readNotices(value: unknown, zone: string): Read<Notice[]> {
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
    return {
      problem: `text must be one line of 1 to ${maxNoticeLength} characters, or such lines by language (en, de)`,
    }
  const [begin, end] = [readInstant(from, zone, false), readInstant(until, zone, true)]
  if (begin === undefined || end === undefined)
    return { problem: 'from and until must be a date (2026-12-19) or a time (2026-12-19T08:00)' }
  if (begin !== null && end !== null && begin >= end) return { problem: 'from must be before until' }
  return { value: { text: texts, from: isoOrNull(begin), until: isoOrNull(end) } }
}

/** One text for all languages, or one for each; a language that is missing has that of the first one. */
function textsByLanguage(value: unknown): Readonly<Record<Language, string>> | undefined {
  const given = typeof value === 'string' ? { [languages[0]]: value } : (Object(value) as Record<string, unknown>)
  const names = Object.keys(given)
  const [first] = Object.values(given)
  if (typeof first !== 'string' || names.some((name) => !languages.includes(name as Language))) return undefined
  const texts = languages.map((language) => [language, given[language] ?? first] as const)
  return texts.every(([, text]) => typeof text === 'string')
    ? (Object.fromEntries(texts) as Record<Language, string>)
    : undefined
}

const isLine = (text: string) => text.trim() !== '' && [...text].length <= maxNoticeLength && !/\p{Cc}/u.test(text)

const isoOrNull = (at: number | null) => (at === null ? null : new Date(at).toISOString())

/**
 * @param isEnd a date alone includes its day @returns ms since 1970, null for no limit, undefined when it is no time
 */
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

/** Max characters of a text, and max spans of a line: what a page can show at once. */
const maxTextLength = 100_000
const maxSpans = 500

/**
 * Parses a safe subset of Markdown: headings (`#`, `##`), paragraphs, lists (`- `), `**bold**`, `[text](address)`.
 * Addresses are http, https and mailto; everything else, HTML included, is text. The result holds text alone: pages
 * make elements of it, so nothing in it can become markup.
 */
export function parseText(text: string): TextBlock[] {
  const blocks: TextBlock[] = []
  for (const part of text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .split(/\n\s*\n/))
    addBlocks(blocks, part.trim())
  return blocks
}

/** A heading and the lines of a list need no empty line around them. */
function addBlocks(blocks: TextBlock[], part: string): void {
  let paragraph: string[] = []
  let items: string[] = []
  const flush = () => {
    if (paragraph.length > 0) blocks.push({ kind: 'paragraph', spans: spansOf(paragraph.join(' ')) })
    if (items.length > 0) blocks.push({ kind: 'list', items: items.map(spansOf) })
    paragraph = []
    items = []
  }
  for (const line of part.split('\n').map((each) => each.trim())) {
    const [, marks, heading] = /^(#{1,2})\s+(.+)$/.exec(line) ?? []
    const [, item] = /^[-*]\s+(.+)$/.exec(line) ?? []
    if (heading !== undefined) {
      flush()
      blocks.push({ kind: 'heading', level: marks === '#' ? 2 : 3, spans: spansOf(heading) })
    } else if (item !== undefined) {
      if (paragraph.length > 0) flush()
      items.push(item)
    } else if (line !== '') {
      const last = items.length - 1
      // A line that goes on with an item.
      if (last >= 0) items[last] += ` ${line}`
      else paragraph.push(line)
    }
  }
  flush()
}

const inline = /\*\*([^*]+)\*\*|\[([^\][]+)\]\(([^()\s]+)\)/g

function spansOf(line: string): TextSpan[] {
  const spans: TextSpan[] = []
  let end = 0
  for (const match of line.matchAll(inline)) {
    if (spans.length >= maxSpans) break
    const [whole, bold, label, address = ''] = match
    const span: TextSpan | undefined =
      bold !== undefined
        ? { text: bold, is_bold: true }
        : isSafe(address)
          ? { text: label ?? '', href: address }
          : undefined
    if (!span) continue
    if (match.index > end) spans.push({ text: line.slice(end, match.index) })
    spans.push(span)
    end = match.index + whole.length
  }
  if (end < line.length) spans.push({ text: line.slice(end) })
  return spans
}

/** Never `javascript:` or `data:`, and no address of this origin, which holds the containers of all users. */
const isSafe = (address: string) =>
  URL.canParse(address) && ['http:', 'https:', 'mailto:'].includes(new URL(address).protocol)
