import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../setup/problem.mjs'
import { run } from '../setup/run.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @typedef {'x64' | 'arm64'} Arch as Node names it */

/**
 * A package with programs for one kind of machine, which may be another than this one: from the registry once, then from
 * `.berth`. npm compares its content with the hash, and this function the hash with the pinned one.
 * @param {ReleaseContext} release
 * @param {{ name: string, version: string, integrity: string, arch: Arch }} pinned
 * @returns {Promise<string>} its folder
 * @throws {SetupProblem} when the registry is needed and not reached, or its package is another one than pinned
 */
export async function registryPackage({ work, env }, { name, version, integrity, arch }) {
  const folder = join(work, '..', 'packages', `${name.replace('/', '-')}-${version}`)
  const found = join(folder, 'node_modules', name)
  if (existsSync(join(folder, 'complete'))) return found
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  // --force: npm refuses packages of other kinds of machines.
  const how = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--force', `--cpu=${arch}`, '--os=linux']
  const log = join(work, '..', 'packages', 'npm.log')
  await run('npm', ['install', '--prefix', folder, ...how, `${name}@${version}`], { log, cwd: folder, env })
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  const actual = lock.packages[`node_modules/${name}`]?.integrity
  if (actual !== integrity) {
    rmSync(folder, { recursive: true, force: true })
    throw new SetupProblem(`${name}@${version} has the hash ${actual}; pinned is ${integrity}.`)
  }
  mkdirSync(join(folder, 'complete'))
  return found
}
