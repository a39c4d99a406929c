import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Version of this program, from the `package.json` at its root. Bundles and sources lie in folders of different depth below it.
 * @throws {Error} when there is none
 */
export function packageVersion(folder = import.meta.dirname): string {
  const file = path.join(folder, 'package.json')
  const found = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string }) : {}
  if (found.name === 'berth' && found.version !== undefined) return found.version
  const above = path.dirname(folder)
  if (above === folder) throw new Error('there is no package.json of Berth above this program')
  return packageVersion(above)
}
