import { isRecord } from './field-values.ts'
import { catalogueEntries, findCatalogueEntry } from './catalogue.ts'
import { nearestName } from './nearest-name.ts'

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
  return { fields: { ...chosen.fields, ...fields, ...(env && { env }) } }
}
