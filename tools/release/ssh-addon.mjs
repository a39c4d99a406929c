import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { addonCompilerFor, compileSshAddon, nodeHeaders, sshAddonFolder } from '../setup/build/ssh-addon.mjs'
import { nodePackage } from './node-runtime.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @import { Arch } from './registry-package.mjs' */

/**
 * Puts the ciphers of the SSH server for a kind of machine into a program, in the place of those that were compiled where it was
 * developed. A machine that has no C++ compiler for it makes a program without them, which copies slower over SSH: a release
 * that has to have them checks `dist` for them.
 * @param {ReleaseContext} release
 * @param {string} program of `withNode`
 * @param {Arch} arch
 * @returns {Promise<boolean>} whether the program has them
 * @throws {SetupProblem} with the compiler's output; when the registry is needed and not reached
 */
export async function putSshAddon(release, program, arch) {
  const { root, work, env } = release
  rmSync(join(program, sshAddonFolder), { recursive: true, force: true })
  const compiler = addonCompilerFor(arch, env)
  const isKnown = existsSync(join(program, sshAddonFolder, '..'))
  if (compiler === undefined || !isKnown) {
    if (isKnown) console.log(`ssh: the program for ${arch} has no compiled ciphers, for want of a C++ compiler for it`)
    return false
  }
  const include = nodeHeaders(join(await nodePackage(release, arch), 'bin/node'))
  if (include === undefined) return false
  await compileSshAddon({ root, tree: program, compiler, include, log: join(work, 'build.log') })
  return true
}
