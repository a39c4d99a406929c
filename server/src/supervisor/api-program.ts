import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/** What the bundle is made of: files and folders of the repository. */
const sources = ['server/src', 'api/src', 'package-lock.json']

/**
 * The program of the API process: the bundle that `npm start` makes, or the sources when there is none, or when one of them
 * was changed since. @param root of the repository
 */
export function apiProgram(root = path.resolve(import.meta.dirname, '../../..')): string {
  const bundle = path.join(root, '.berth/server/api-process.js')
  const made = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs
  const isFresh = made !== undefined && sources.every((name) => isOlder(path.join(root, name), made))
  return isFresh ? bundle : path.join(root, 'server/src/api-process.ts')
}

/** @param than ms since 1970 */
function isOlder(file: string, than: number): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  // A folder is newer when something in it was added or removed.
  if (!found || found.mtimeMs > than) return false
  return !found.isDirectory() || readdirSync(file).every((name) => isOlder(path.join(file, name), than))
}
