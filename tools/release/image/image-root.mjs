import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { appletsOf } from '../../../images/build/programs.mjs'
import { machineFiles } from './machine-files.mjs'

/** @import { DebianPackage } from '../sbom.mjs' */
/** @import { SystemFiles } from './machine-files.mjs' */

/** Account in the image. Above those that distributions give to people and services. */
export const imageUser = 10_001

const certificates = '/etc/ssl/certs/ca-certificates.crt'

/** GNU tar and BusyBox build the demo images; BusyBox is the shell, too. */
const programs = { '/bin/busybox': 'busybox', '/bin/tar': 'tar' }

const etc = {
  passwd: `root:x:0:0:root:/:/bin/sh\nberth:x:${imageUser}:${imageUser}:Berth:/var/lib/berth:/bin/sh\n`,
  group: `root:x:0:\nberth:x:${imageUser}:\n`,
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
}

/** What `ldd` is a long script for; the builder of the demo images asks which libraries a program needs. @param {string} loader */
const ldd = (loader) => `#!/bin/sh\nexec ${loader} --list "$1"\n`

/**
 * Fills the lower layer of the image from Debian: the C and C++ libraries that Node needs, BusyBox, GNU tar and the
 * certificates, which are this machine's.
 * @param {string} root empty folder that becomes `/`
 * @param {SystemFiles} files
 * @param {readonly string[]} native programs and libraries of the upper layer: Node, and the demo app's terminal
 * @returns {Promise<DebianPackage[]>} the packages that the files are from
 * @throws {SetupProblem} when a program or library is missing
 */
export async function makeImageRoot(root, files, native) {
  for (const folder of ['dev', 'proc', 'sys', 'run', 'etc', 'bin', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true })
  const sources = Object.entries(programs).map(
    ([path, name]) => /** @type {[string, string]} */ ([path, files.program(name)]),
  )
  const linked = await Promise.all([...native, ...sources.map(([, source]) => source)].map(files.libraries))
  const libraries = [...new Map(linked.flat())].sort(([one], [other]) => (one < other ? -1 : 1))
  const copies = [...sources, ...libraries]
  for (const [path, source] of copies) copyInto(source, join(root, path), 0o755)
  await linkApplets(root)
  for (const [name, text] of Object.entries(etc)) writeFileSync(join(root, 'etc', name), text)
  writeFileSync(join(root, 'usr/bin/ldd'), ldd(files.loader), { mode: 0o755 })
  const shared = existsSync(certificates) ? [certificates] : []
  for (const file of shared) copyInto(file, join(root, file), 0o644)
  return files.packages(copies.map(([, source]) => source))
}

/** The names are those of this machine's BusyBox, which is of the same Debian and can be run here. @param {string} root */
async function linkApplets(root) {
  const applets = await appletsOf(machineFiles.program('busybox'))
  for (const applet of applets.filter((path) => !path.endsWith('/tar'))) {
    const place = join(root, applet)
    mkdirSync(dirname(place), { recursive: true })
    // A hard link, which tar stores as one: no program is looked for by its name.
    if (!existsSync(place)) execFileSync('ln', [join(root, 'bin/busybox'), place])
  }
}

/** @param {string} from links are followed @param {string} to @param {number} mode */
function copyInto(from, to, mode) {
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, mode)
}
