import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */
/** @typedef {{ version?: string, integrity?: string, link?: boolean, optional?: boolean, peer?: boolean }} Locked */

/**
 * Installs the packages of `package-lock.json`, to the letter, unless they are installed.
 * Asks npm's own note of what it installed (`node_modules/.package-lock.json`) rather than a stamp of ours: npm writes
 * it last, so it is missing after an interrupted install, and it is right after an `npm install` by hand.
 * Install scripts stay off: none of our packages needs its own, and they are the usual way in for a stolen package.
 * @param {SetupContext} here
 * @throws {SetupProblem} with npm's last words
 */
export async function ensureDependencies(here) {
  if (isInstalled(here.root)) return
  // Development packages always: the web front end is built here, whatever NODE_ENV says.
  const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  await here.during('dependencies', 'installing the packages of package-lock.json', () =>
    run('npm', args, { log: join(here.own, 'npm.log'), cwd: here.root, env: here.env }),
  )
}

/** @param {string} root */
function isInstalled(root) {
  const wanted = lockedPackages(join(root, 'package-lock.json'))
  const installed = lockedPackages(join(root, 'node_modules/.package-lock.json'))
  return Object.entries(wanted ?? {}).every(([path, locked]) => isSame(locked, installed?.[path]))
}

/**
 * @param {Locked} wanted
 * @param {Locked | undefined} installed
 */
function isSame(wanted, installed) {
  // An optional package is left out where it does not fit the machine, such as another system's binary.
  if (installed === undefined) return wanted.optional === true
  return wanted.version === installed.version && wanted.integrity === installed.integrity
}

/**
 * @param {string} file
 * @returns {Record<string, Locked> | undefined} those under node_modules; undefined when the file cannot be read
 */
function lockedPackages(file) {
  try {
    /** @type {{ packages: Record<string, Locked> }} */
    const { packages } = JSON.parse(readFileSync(file, 'utf8'))
    return Object.fromEntries(Object.entries(packages).filter(([path]) => path.includes('node_modules/')))
  } catch {
    return undefined
  }
}
