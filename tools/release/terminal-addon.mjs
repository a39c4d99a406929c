import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { registryPackage } from './registry-package.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @import { Arch } from './registry-package.mjs' */

const modules = 'images/workspace/node_modules'
const scope = '@lydell'
const isAddon = (/** @type {string} */ name) => name.startsWith('node-pty-')

/**
 * Replaces the native part of the demo app's terminal, by that of a kind of
 * machine. A program without demo apps stays as it is.
 * @param {ReleaseContext} release
 * @param {string} program of `withNode`
 * @param {Arch} arch
 * @throws {SetupProblem} when the registry is needed and not reached
 */
export async function putTerminalAddon(release, program, arch) {
  const folder = join(program, modules, scope)
  const name = `${scope}/node-pty-linux-${arch}`
  const own = existsSync(folder) ? readdirSync(folder).filter(isAddon) : []
  if (own.length === 0 || own.includes(`node-pty-linux-${arch}`)) return
  const lock = JSON.parse(readFileSync(join(release.root, 'images/workspace/package-lock.json'), 'utf8'))
  const { version, integrity } = lock.packages[`node_modules/${name}`]
  const found = await registryPackage(release, { name, version, integrity, arch })
  for (const other of own) rmSync(join(folder, other), { recursive: true })
  cpSync(found, join(program, modules, name), { recursive: true })
}
