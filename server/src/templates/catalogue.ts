import { readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { catalogueFolder } from './catalogue-folder.ts'
import { isRecord } from './field-values.ts'

/** Fields of a template as an operator writes them, or what is wrong with the choice. */
type Chosen = { readonly fields: unknown } | { readonly problem: string }

/**
 * Whether a text is a list of names rather than a map of templates: words of letters, digits, `-` and `_` with commas between
 * them. No map in JSON or YAML looks like that.
 */
export function isNameList(text: string): boolean {
  return /^[\w-]+(\s*,\s*[\w-]+)*$/.test(text.trim())
}

/** The names of a list, in its order. */
export function namesIn(list: string): string[] {
  return list.split(',').map((name) => name.trim())
}

/** Fields of a template of the catalogue; for an unknown name a sentence with the nearest name and all names. */
export function chosenFields(name: string): Chosen {
  const entry = findCatalogueEntry(name)
  if (entry) return { fields: entry.fields }
  const names = catalogueEntries().map((each) => each.name)
  const nearest = nearestName(name, names)
  const hint = nearest === undefined ? '.' : `; did you mean ${nearest}?`
  return { problem: `"${name}" is no template of the catalogue${hint} There are: ${names.join(', ')}` }
}

/**
 * The fields of a template whose `extends` names one of the catalogue: what it says itself replaces what the catalogue says,
 * and variables of `env` are added. Without `extends` the fields as they are.
 */
export function extendedFields(own: unknown): Chosen {
  if (!isRecord(own) || typeof own.extends !== 'string') return { fields: own }
  const { extends: name, ...fields } = own
  const chosen = chosenFields(name)
  if (!('fields' in chosen) || !isRecord(chosen.fields)) return chosen
  const env = isRecord(chosen.fields.env) && isRecord(fields.env) ? { ...chosen.fields.env, ...fields.env } : undefined
  const all: Record<string, unknown> = { ...chosen.fields, ...fields, ...(env && { env }) }
  // An environment takes the place of the image of the catalogue.
  if (typeof fields.environment !== 'string' || fields.image !== undefined) return { fields: all }
  const { image: _, ...others } = all
  return { fields: others }
}

let entries: readonly CatalogueEntry[] | undefined

/**
 * Every template of the catalogue, in the order of names. Files are read when first asked for.
 * @throws {Error} when the folder is not there, or a file of it is wrong
 */
export function catalogueEntries(): readonly CatalogueEntry[] {
  const folder = catalogueFolder
  if (folder === undefined) throw new Error('the folder "templates" of this release is missing')
  entries ??= readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => readEntry(file.replace(/\.yaml$/, ''), readFileSync(path.join(folder, file), 'utf8')))
  return entries
}

/** A template of the catalogue by its name. */
export function findCatalogueEntry(name: string): CatalogueEntry | undefined {
  return catalogueEntries().find((entry) => entry.name === name)
}

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
function readEntry(name: string, text: string): CatalogueEntry {
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

/** The name that takes the fewest insertions, deletions and replacements of letters, if they are at most a third of them. */
function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: editDistance(wrong.toLowerCase(), name) }))
    .sort((a, b) => a.distance - b.distance)
  const [best] = ranked
  return best && best.distance <= Math.max(1, best.name.length / 3) ? best.name : undefined
}

/** Levenshtein, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...to].entries()) {
      const replaced = (row[index] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
