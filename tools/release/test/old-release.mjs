import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

const repository = resolve(import.meta.dirname, '../../..')
const cache = join(repository, '.berth/release/old')

/** The version from which upgrades are tested, and its commit: docs/explanation/decisions/052. */
export const oldVersion = '0.9.0'
const oldCommit = '74455ffdd325750a2e4a99a42f80f4e8aa99ea47'

/**
 * The tarball of the old version, packed by the tool of this one from a checkout of its own. Made once; needs npm's registry or its cache.
 * @returns {string} its file
 */
export function oldTarball() {
  const tarball = join(cache, `berth-${oldVersion}-linux-x64.tar.gz`)
  if (existsSync(tarball)) return tarball
  const checkout = join(cache, 'checkout')
  rmSync(cache, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  console.log(`old release: packing ${oldVersion} ...`)
  const run = (/** @type {string} */ program, /** @type {string[]} */ args, cwd = checkout) =>
    execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
  run('git', ['clone', '--quiet', '--shared', '--no-checkout', repository, checkout], cache)
  run('git', ['-c', 'advice.detachedHead=false', 'checkout', '--quiet', oldCommit])
  run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'])
  const options = [`--root=${checkout}`, `--dist=${cache}`, `--release=${oldVersion}`, '--only=tarball']
  run(process.execPath, [join(repository, 'tools/release/main.mjs'), ...options], repository)
  rmSync(checkout, { recursive: true, force: true })
  return tarball
}
