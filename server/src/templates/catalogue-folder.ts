import { existsSync } from 'node:fs'
import path from 'node:path'

/** The folder `templates` of this release. The bundle of the API process is one folder nearer to it than this file. */
export const catalogueFolder = ['../../templates', '../../../templates']
  .map((each) => path.resolve(import.meta.dirname, each))
  .find((each) => existsSync(path.join(each, 'code-server.yaml')))

/** Files that a template of the catalogue puts into homes. @returns undefined when there are none of this name */
export function catalogueFiles(name: string): string | undefined {
  if (catalogueFolder === undefined || !/^[\w-]+$/.test(name)) return undefined
  const folder = path.join(catalogueFolder, 'files', name)
  return existsSync(folder) ? folder : undefined
}
