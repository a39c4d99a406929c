import { existsSync, mkdirSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../problem.mjs'
import { run } from '../run.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

/** The oldest major version of Node.js that set-up runs on. */
export const oldestSetupNode = 20

/** The oldest Node.js that Berth runs on: it strips types, and has `node:sqlite`. */
const oldest = { major: 24, minor: 14 }

/** The Node.js that is downloaded when the machine's own is older. */
export const pinnedVersion = '24.21.0'

/**
 * Makes `.berth/node` lead to a Node.js that can run Berth: the one that runs set-up, or else a pinned one
 * from the npm registry. The link is made last, so where there is a link, there is a program that ran; earlier pinned ones are
 * removed after that, because a service may be about to start a process from the one that the link still leads to.
 * @param {SetupContext} here
 * @param {{ version: string, execPath: string }} [own] the Node.js of the machine
 * @throws {SetupProblem} when there is no pinned Node.js for this kind of machine
 */
export async function ensureNode(here, own = { version: process.versions.node, execPath: process.execPath }) {
  const link = join(here.own, 'node')
  const target = isNewEnough(own.version) ? own.execPath : pinnedProgram(here)
  if (leadsTo(link, target)) return
  if (!existsSync(target)) await fetchPinned(here, own.version)
  await run(target, ['--version'], { log: join(here.own, 'node.log'), limitMs: 10_000 })
  relink(link, target)
  if (target === pinnedProgram(here)) removeOtherPins(here)
}

/** @param {string} version as in `process.versions.node` */
function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > oldest.major || (major === oldest.major && minor >= oldest.minor)
}

/**
 * The registry's package `node` is a script that installs one of these. Naming it ourselves gives the same program
 * without the script, which npm may be told not to run (and newer npm does not run unasked).
 */
function pinnedPackage() {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${process.platform}-${process.arch}`
}

/** @param {SetupContext} here */
const pinnedFolders = (here) => join(here.own, 'runtime')

/** @param {SetupContext} here */
const pinnedFolder = (here) => join(pinnedFolders(here), pinnedVersion)

/** @param {SetupContext} here */
const pinnedProgram = (here) => join(pinnedFolder(here), 'node_modules', pinnedPackage(), 'bin', 'node')

/**
 * @param {SetupContext} here
 * @param {string} ownVersion
 */
async function fetchPinned(here, ownVersion) {
  rmSync(pinnedFolder(here), { recursive: true, force: true })
  mkdirSync(pinnedFolder(here), { recursive: true })
  const install = [
    'install',
    '--prefix',
    pinnedFolder(here),
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ]
  const wanted = `${pinnedPackage()}@${pinnedVersion}`
  await here
    .during('node', `fetching Node.js ${pinnedVersion}, because this machine's is ${ownVersion}`, () =>
      run('npm', [...install, wanted], { log: join(here.own, 'node.log'), cwd: pinnedFolder(here), env: here.env }),
    )
    .catch((error) => {
      throw new SetupProblem(
        `${error.message}\nInstall Node.js ${oldest.major}.${oldest.minor} or newer yourself, then try again.`,
      )
    })
}

/** @param {SetupContext} here */
function removeOtherPins(here) {
  for (const name of readdirSync(pinnedFolders(here)))
    if (name !== pinnedVersion) rmSync(join(pinnedFolders(here), name), { recursive: true, force: true })
}

/**
 * @param {string} link
 * @param {string} target
 */
function leadsTo(link, target) {
  try {
    return readlinkSync(link) === target && existsSync(target)
  } catch {
    return false
  }
}

/**
 * By rename, so that another `npm start` at the same moment never finds no link.
 * @param {string} link
 * @param {string} target
 */
function relink(link, target) {
  const fresh = `${link}.${process.pid}`
  rmSync(fresh, { force: true })
  symlinkSync(target, fresh)
  renameSync(fresh, link)
}
