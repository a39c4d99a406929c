import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { readEntry, type CatalogueEntry } from './read-entry.ts'

/** The folder `templates` of this release. The bundle of the API process is one folder nearer to it than this file. */
const folder = ['../../templates', '../../../templates']
  .map((each) => path.resolve(import.meta.dirname, each))
  .find((each) => existsSync(path.join(each, 'code-server.yaml')))

let entries: readonly CatalogueEntry[] | undefined

/**
 * Every template of the catalogue, in the order of names. Files are read when first asked for.
 * @throws {Error} when the folder is not there, or a file of it is wrong
 */
export function catalogueEntries(): readonly CatalogueEntry[] {
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
