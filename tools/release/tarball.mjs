import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../setup/run.mjs'
import { nodeRuntime } from './node-runtime.mjs'
import { packFolder } from './pack.mjs'
import { normalizeModes } from './program-tree.mjs'
import { putSshAddon } from './ssh-addon.mjs'
import { putTerminalAddon } from './terminal-addon.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @import { Arch } from './registry-package.mjs' */

/**
 * The tarball for one kind of machine: the program and its Node in one folder, `berth-{version}-linux-{arch}`.
 * @param {ReleaseContext} release
 * @param {string} tree of `makeProgramTree`
 * @param {Arch} arch
 * @returns {Promise<string>} name of the file in `dist`
 */
export async function makeTarball(release, tree, arch) {
  const name = `berth-${release.version}-linux-${arch}`
  const folder = await withNode(release, tree, arch, join(release.work, 'tarball', name))
  await packFolder(release, join(release.dist, `${name}.tar.gz`), join(folder, '..'), [name])
  return `${name}.tar.gz`
}

/**
 * A copy of the program with what is native to one kind of machine: Node, the terminal of the demo app, and the
 * ciphers of the SSH server.
 * @param {ReleaseContext} release
 * @param {string} tree
 * @param {Arch} arch
 * @param {string} folder where to; replaced
 */
export async function withNode(release, tree, arch, folder) {
  const node = await nodeRuntime(release, arch)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, '..'), { recursive: true })
  // Hard links: the tree is read only from here on.
  await run('cp', ['--archive', '--link', tree, `${folder}.part`], { log: join(release.work, 'pack.log') })
  renameSync(`${folder}.part`, folder)
  await putTerminalAddon(release, folder, arch)
  await putSshAddon(release, folder, arch)
  normalizeModes(join(folder, 'images'))
  normalizeModes(join(folder, 'node_modules/ssh2'))
  copyFileSync(node, join(folder, 'node'))
  await run('chmod', ['755', join(folder, 'node')], { log: join(release.work, 'pack.log') })
  writeFileSync(join(folder, 'RELEASE'), `berth ${release.version} linux-${arch}\ncommit ${release.commit}\n`)
  return folder
}
