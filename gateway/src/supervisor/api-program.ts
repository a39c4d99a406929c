import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/** What the bundle is made of: files and folders of the repository. */
const sources = ['server/src', 'gateway/src', 'cli/src', 'texts/src', 'api/src', 'package-lock.json']

/** File that a release has, and a repository does not. */
const releaseMark = 'RELEASE'

const ownRoot = path.resolve(import.meta.dirname, '../../..')

/**
 * The program of the API process: the bundle that `npm start` makes, or the sources when there is none, or when one of them
 * was changed since. @param root of the repository or of a release; a link leads to what it names at this moment
 */
export function apiProgram(root = ownRoot): string {
  return programOf(root, 'api-process.js', 'server/src/start/api-process.ts')
}

/** The program of the SSH process, by the same rule. */
export function sshProgram(root = ownRoot): string {
  return programOf(root, 'ssh/ssh-process.js', 'server/src/start/ssh-process.ts')
}

/** The program of the command line, by the same rule; for tests, because `berth` applies it by itself. */
export function commandLineProgram(root = ownRoot): string {
  return programOf(root, 'cli/main.js', 'cli/src/main.ts')
}

function programOf(root: string, bundleName: string, source: string): string {
  const bundle = path.join(root, '.berth/server', bundleName)
  // Sources of a release do not change, and what dpkg unpacks has folders that are newer than their files.
  if (existsSync(path.join(root, releaseMark)) && existsSync(bundle)) return bundle
  const made = statSync(bundle, { throwIfNoEntry: false })?.mtimeMs
  const isFresh = made !== undefined && sources.every((name) => isOlder(path.join(root, name), made))
  return isFresh ? bundle : path.join(root, source)
}

/**
 * The Node that runs it: that of the release, which is the one of the version that a link names now; that of the repository, which
 * set-up may have replaced by a newer one since, and removed our own; or else our own.
 * @param root as for `apiProgram`
 */
export function apiNode(root = ownRoot): string {
  const found = ['node', '.berth/node'].map((name) => path.join(root, name)).find((file) => existsSync(file))
  return found ?? process.execPath
}

/** @param than ms since 1970 */
function isOlder(file: string, than: number): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  // A folder is newer when something in it was added or removed.
  if (!found || found.mtimeMs > than) return false
  return !found.isDirectory() || readdirSync(file).every((name) => isOlder(path.join(file, name), than))
}
