import { copyFileSync, lstatSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../setup/run.mjs'
import { debianNames } from './debian-names.mjs'
import { normalizeModes } from './program-tree.mjs'
import { writeSbom } from './sbom.mjs'
import { withNode } from './tarball.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @import { Arch } from './registry-package.mjs' */

const files = join(import.meta.dirname, 'files/debian')
const scripts = ['preinst', 'postinst', 'prerm', 'postrm']
const units = ['berth.service', 'berth-backup.service', 'berth-backup.timer']
/** Pages for an administrator who has no network. */
const documents = ['README.md', 'docs/reference/settings.md', 'docs/how-to/install-the-package.md']

/**
 * The package for Debian 12 and later: the program in `/usr/lib/berth`, units of systemd, and the settings as a conffile.
 * dpkg-deb sets every time to that of the commit and every owner to root.
 * @param {ReleaseContext} release
 * @param {string} tree of `makeProgramTree`
 * @param {Arch} arch
 * @returns {Promise<string>} name of the file in `dist`
 * @throws {SetupProblem} when dpkg-deb is missing or refuses
 */
export async function makeDebianPackage(release, tree, arch) {
  const version = debianVersion(release.version)
  const folder = join(release.work, `debian-${arch}`)
  const program = await withNode(release, tree, arch, join(folder, 'usr/lib/berth'))
  writeSbom(release, join(program, 'sbom.cdx.json'), { arch })
  copyFiles(release, tree, folder)
  const log = join(release.work, 'pack.log')
  normalizeModes(folder)
  writeControl(folder, { version, architecture: debianNames[arch], kilobytes: installedKilobytes(folder) })
  const name = `berth_${version}_${debianNames[arch]}.deb`
  const args = ['--root-owner-group', '-Zxz', '-z3', '--build', folder, join(release.dist, name)]
  await run('dpkg-deb', args, { log, env: release.env })
  return name
}

/** A tilde sorts before everything: 1.0.0~rc.1 is older than 1.0.0 (deb-version(7)). @param {string} version */
export const debianVersion = (version) => version.replace('-', '~')

/** @param {ReleaseContext} release @param {string} tree @param {string} folder */
function copyFiles({ root }, tree, folder) {
  /** @type {[string, string][]} */
  const copies = [
    [join(files, 'berth'), 'usr/bin/berth'],
    [join(files, 'settings.env'), 'etc/berth/berth.env'],
    [join(files, 'copyright'), 'usr/share/doc/berth/copyright'],
    [join(root, 'CHANGELOG.md'), 'usr/share/doc/berth/changelog'],
    ...units.map((name) => /** @type {[string, string]} */ ([join(files, name), `usr/lib/systemd/system/${name}`])),
    ...scripts.map((name) => /** @type {[string, string]} */ ([join(files, name), `DEBIAN/${name}`])),
  ]
  for (const name of documents)
    copies.push([join(tree, name), `usr/share/doc/berth/${name.slice(name.lastIndexOf('/') + 1)}`])
  for (const [from, to] of copies) {
    mkdirSync(dirname(join(folder, to)), { recursive: true })
    copyFileSync(from, join(folder, to))
  }
}

/** @param {string} folder @param {{ version: string, architecture: string, kilobytes: number }} values */
function writeControl(folder, { version, architecture, kilobytes }) {
  const template = readFileSync(join(files, 'control'), 'utf8')
  const control = template
    .replace('@VERSION@', version)
    .replace('@ARCHITECTURE@', architecture)
    .replace('@SIZE@', String(kilobytes))
  writeFileSync(join(folder, 'DEBIAN/control'), control, { mode: 0o644 })
  writeFileSync(join(folder, 'DEBIAN/conffiles'), '/etc/berth/berth.env\n', { mode: 0o644 })
}

/**
 * As Debian counts it, the same on every file system: files in whole kilobytes, and one for each folder and link.
 * @param {string} path
 * @returns {number}
 */
function installedKilobytes(path) {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.isFile() ? Math.ceil(stats.size / 1024) : 1
  return readdirSync(path).reduce((sum, name) => sum + installedKilobytes(join(path, name)), 1)
}
