import { readFileSync } from 'node:fs'
import path from 'node:path'
import { languages, type Language } from '@berth/api/boot.ts'
import type { TextBlock } from '@berth/api/schemas/branding.ts'
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { brandingFields, type BrandingField } from './branding-descriptions.ts'
import type { Branding, LegalText } from './branding.ts'
import { maxTextLength, parseText } from './parse-text.ts'
import { readLogo } from './read-logo.ts'
import { readNotices, textsByLanguage } from './read-notices.ts'
import { themeOf, type Theme } from './theme.ts'

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
      typeof value === 'string' ? readLogo(path.resolve(folder, value)) : { problem: 'must be the path of an image' },
    ),
    theme: pick('colors', readColors),
    imprint: pick('imprint', legalText),
    privacy: pick('privacy', legalText),
    notices: pick('notices', (value) => readNotices(value, zone)) ?? [],
  }
  return problems.length === 0 ? { branding, problems: [] } : { branding: null, problems }
}

/** Brackets and `#` have a meaning in messages. A straight apostrophe has one, too, and a typographic one looks better. */
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
