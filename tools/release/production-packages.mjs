import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @typedef {{ version?: string, integrity?: string, license?: string, link?: boolean, resolved?: string, dev?: boolean, dependencies?: Record<string, string>, peerDependencies?: Record<string, string>, peerDependenciesMeta?: Record<string, { optional?: boolean }>, optionalDependencies?: Record<string, string> }} Locked */

/**
 * The packages that a workspace needs while it runs, found through its lock file as Node finds them on the disk.
 * @param {string} root folder of `package-lock.json`
 * @param {string} start workspace, such as `server`; an empty text is the root
 * @param {(name: string) => boolean} [isLeftOut] packages that are not followed
 * @returns {[string, Locked][]} folders below `root` with their entries of the lock file, sorted; workspaces included
 */
export function productionPackages(root, start, isLeftOut = () => false) {
  /** @type {{ packages: Record<string, Locked> }} */
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  /** @type {Map<string, Locked>} */
  const found = new Map()
  const waiting = [start]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const entry = packages[path]
    if (entry === undefined || found.has(path)) continue
    found.set(path, entry)
    for (const name of neededBy(entry).filter((each) => !isLeftOut(each))) waiting.push(resolve(packages, path, name))
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A peer is needed unless its package says that it is optional. @param {Locked} entry */
function neededBy({ dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta = {} }) {
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional)
  return [...new Set([...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers])]
}

/**
 * @param {Record<string, Locked>} packages
 * @param {string} from folder of the package that imports
 * @param {string} name
 * @returns {string} folder; one that is not in `packages` for an optional package of another kind of machine
 */
function resolve(packages, from, name) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`
    const entry = packages[place]
    if (entry !== undefined) return entry.link ? (entry.resolved ?? place) : place
    if (folder === '') return place
  }
}
