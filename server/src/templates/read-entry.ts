import { parse } from 'yaml'
import { isRecord } from './field-values.ts'

/** One file of the catalogue. */
export interface CatalogueEntry {
  /** By which it is chosen: the name of its file. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** What the application needs below a prefix. Markdown. */
  readonly behindPrefix: string
  /** Version and image that were tried behind Berth; null: none. */
  readonly tried: string | null
  /** What of it was not tried; null: nothing. */
  readonly notTried: string | null
  /** Fields as an operator writes them; title and description are the display name and its text. */
  readonly fields: Readonly<Record<string, unknown>>
}

/** @throws {Error} for a file of another form; fields of the template are checked where they are used */
export function readEntry(name: string, text: string): CatalogueEntry {
  const read: unknown = parse(text)
  if (!isRecord(read)) throw new Error(`templates/${name}.yaml is no map`)
  const textOf = (key: string) => {
    const value = read[key]
    if (typeof value !== 'string') throw new Error(`templates/${name}.yaml: ${key} must be text`)
    return value.trim()
  }
  const textOrNull = (key: string) => (read[key] === null ? null : textOf(key))
  const [title, description] = [textOf('title'), textOf('description')]
  if (!isRecord(read.template)) throw new Error(`templates/${name}.yaml: template must be a map`)
  return {
    name,
    title,
    description,
    behindPrefix: textOf('behind_prefix'),
    tried: textOrNull('tried'),
    notTried: textOrNull('not_tried'),
    fields: { display_name: title, description, ...read.template },
  }
}
