import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { paths } from '../../images/build/paths.mjs'
import { appletsOf, librariesOf } from '../../images/build/programs.mjs'
import { SetupProblem } from '../setup/problem.mjs'

/** @import { DebianPackage } from './sbom.mjs' */

/** Account in the image. Above those that distributions give to people and services. */
export const imageUser = 10_001

/** Part of the demo app; its libraries go into the demo images. */
const addon = join(paths.workspace, 'node_modules/@lydell/node-pty-linux-x64/pty.node')

const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** GNU tar and BusyBox build the demo images; BusyBox is the shell, too. */
const programs = { '/bin/busybox': 'busybox', '/bin/tar': 'tar' }

const etc = {
  passwd: `root:x:0:0:root:/:/bin/sh\nberth:x:${imageUser}:${imageUser}:Berth:/var/lib/berth:/bin/sh\n`,
  group: `root:x:0:\nberth:x:${imageUser}:\n`,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

/** What `ldd` is a long script for; the builder of the demo images asks which libraries a program needs. */
const ldd = '#!/bin/sh\nexec /lib64/ld-linux-x86-64.so.2 --list "$1"\n'

/**
 * Fills the lower layer of the image from this machine's Debian: the C and C++ libraries that Node needs, BusyBox, GNU tar and
 * the certificates.
 * @param {string} root empty folder that becomes `/`
 * @param {string} node
 * @returns {Promise<DebianPackage[]>} the packages that the files are from
 * @throws {SetupProblem} when BusyBox is missing
 */
export async function makeImageRoot(root, node) {
  for (const folder of ['dev', 'proc', 'sys', 'run', 'etc', 'bin', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true })
  const sources = Object.entries(programs).map(([path, name]) => [path, findProgram(name)])
  const linked = await Promise.all([node, addon, ...sources.map(([, source]) => source ?? '')].map(librariesOf))
  const copies = [...sources, ...[...new Set(linked.flat())].sort().map((path) => [path, path])]
  for (const [path = '', source = ''] of copies) copyInto(source, join(root, path), 0o755)
  await linkApplets(root)
  for (const [name, text] of Object.entries(etc)) writeFileSync(join(root, 'etc', name), text)
  writeFileSync(join(root, 'usr/bin/ldd'), ldd, { mode: 0o755 })
  const shared = existsSync(certificates) ? [certificates] : []
  for (const file of shared) copyInto(file, join(root, file), 0o644)
  return packagesOf(copies.map(([, source = '']) => source))
}

/** @param {string} root */
async function linkApplets(root) {
  const applets = await appletsOf(join(root, 'bin/busybox'))
  for (const applet of applets.filter((path) => !path.endsWith('/tar'))) {
    const place = join(root, applet)
    mkdirSync(dirname(place), { recursive: true })
    // A hard link, which tar stores as one: no program is looked for by its name.
    if (!existsSync(place)) execFileSync('ln', [join(root, 'bin/busybox'), place])
  }
}

/** @param {string} name */
function findProgram(name) {
  const found = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (found === undefined)
    throw new SetupProblem(`The image needs ${name}: apt-get install ${name === 'busybox' ? 'busybox-static' : name}`)
  return realpathSync(found)
}

/** @param {string} from links are followed @param {string} to @param {number} mode */
function copyInto(from, to, mode) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}

/** @param {readonly string[]} paths @returns {DebianPackage[]} */
function packagesOf(paths) {
  const text = paths.map(ownerOf).filter((name) => name !== undefined)
  return [...new Set(text)].sort().map((name) => {
    const version = execFileSync('dpkg-query', ['--show', '--showformat=${Version}', name], { encoding: 'utf8' })
    return { name: name.replace(/:.*/, ''), version }
  })
}

/** A merged /usr has files that dpkg knows without it. @param {string} path */
function ownerOf(path) {
  const real = realpathSync(path)
  for (const name of [real, real.replace(/^\/usr/, ''), path]) {
    try {
      return execFileSync('dpkg-query', ['--search', name], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).split(': ')[0]
    } catch {
      continue
    }
  }
  return undefined
}
