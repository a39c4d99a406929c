import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedVersion } from '../setup/packages/node.mjs'
import { SetupProblem } from '../setup/problem.mjs'
import { run } from '../setup/run.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @typedef {'x64' | 'arm64'} Arch as Node names it */

/** The registry's packages of Node, by their SHA-512: a release holds the same Node whatever a mirror answers. */
const integrity = {
  x64: 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  arm64: 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
}

/** Programs that remove symbol tables, 18 MB of Node. */
const strips = { x64: 'strip', arm64: 'aarch64-linux-gnu-strip' }

/**
 * The pinned Node for a kind of machine, from the registry once, then from `.berth`. npm compares its hash.
 * @param {ReleaseContext} release
 * @param {Arch} arch
 * @returns {Promise<string>} path of the program, without symbol tables where this machine can remove them
 * @throws {SetupProblem} when the registry is needed and not reached, or its package is another one than pinned
 */
export async function nodeRuntime({ work, env }, arch) {
  const name = `node-linux-${arch}`
  const folder = join(work, '..', 'node', `${pinnedVersion}-${arch}`)
  const program = join(folder, 'node')
  if (existsSync(program)) return program
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // --force: npm refuses packages of other kinds of machines.
  const how = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--force', `--cpu=${arch}`, '--os=linux']
  const log = join(folder, 'npm.log')
  await run('npm', ['install', '--prefix', folder, ...how, `${name}@${pinnedVersion}`], { log, cwd: folder, env })
  refuseOther(folder, name, arch)
  const downloaded = join(folder, 'node_modules', name, 'bin/node')
  await run(strips[arch], ['-o', program, downloaded], { log }).catch(() => run('cp', [downloaded, program], { log }))
  return program
}

/** @param {string} folder @param {string} name @param {Arch} arch */
function refuseOther(folder, name, arch) {
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  const found = lock.packages[`node_modules/${name}`]?.integrity
  if (found === integrity[arch]) return
  rmSync(folder, { recursive: true, force: true })
  throw new SetupProblem(`${name}@${pinnedVersion} has the hash ${found}; pinned is ${integrity[arch]}.`)
}
