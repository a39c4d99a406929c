import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedVersion } from '../setup/packages/node.mjs'
import { run } from '../setup/run.mjs'
import { registryPackage } from './registry-package.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @import { Arch } from './registry-package.mjs' */

/** The registry's packages of Node, by their SHA-512: a release holds the same Node whatever a mirror answers. */
const integrity = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}

/** Programs that remove symbol tables, 18 MB of Node; the first that the machine has. */
const strips = { x64: ['strip'], arm64: ['aarch64-linux-gnu-strip', 'llvm-strip'] }

/**
 * The pinned Node for a kind of machine, from the registry once, then from `.berth`.
 * @param {ReleaseContext} release
 * @param {Arch} arch
 * @returns {Promise<string>} path of the program, without symbol tables where this machine can remove them
 * @throws {SetupProblem} when the registry is needed and not reached, or its package is another one than pinned
 * @throws {Error} when the program cannot be written; then there is none at its path
 */
export async function nodeRuntime(release, arch) {
  const folder = join(release.work, '..', 'node', `${pinnedVersion}-${arch}`)
  const program = join(folder, 'node')
  if (existsSync(program)) return program
  const downloaded = join(await nodePackage(release, arch), 'bin/node')
  mkdirSync(folder, { recursive: true })
  // What is at the path of the program counts as whole, also after a step that was interrupted.
  const unfinished = `${program}.unfinished`
  if (!(await isStripped(strips[arch], downloaded, unfinished, join(folder, 'strip.log'))))
    copyFileSync(downloaded, unfinished)
  renameSync(unfinished, program)
  return program
}

/**
 * The registry's package of the pinned Node, with its header files.
 * @param {ReleaseContext} release
 * @param {Arch} arch
 * @returns {Promise<string>} its folder
 */
export const nodePackage = (release, arch) =>
  registryPackage(release, { name: `node-linux-${arch}`, version: pinnedVersion, integrity: integrity[arch], arch })

/**
 * @param {readonly string[]} commands
 * @param {string} from
 * @param {string} to
 * @param {string} log
 * @returns {Promise<boolean>} whether one of the programs, of which a machine may have none, has written it
 */
async function isStripped(commands, from, to, log) {
  for (const command of commands) {
    const isDone = await run(command, ['-o', to, from], { log }).then(
      () => true,
      () => false,
    )
    if (isDone) return true
  }
  return false
}
