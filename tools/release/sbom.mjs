import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedVersion } from '../setup/packages/node.mjs'
import { debianNames } from './debian-names.mjs'
import { productionPackages } from './production-packages.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */
/** @import { Locked } from './production-packages.mjs' */
/** @import { Arch } from './registry-package.mjs' */
/** @typedef {{ name: string, version: string }} DebianPackage */

/**
 * Writes the list of everything that a release contains, as CycloneDX 1.5 (ecma-international.org/ecma-424), made from the lock
 * files: production packages of the server and the demo app, what is bundled into the front end, and Node.
 * @param {ReleaseContext} release
 * @param {string} file
 * @param {{ arch?: Arch, debian?: readonly DebianPackage[] }} [of] kind of machine, and packages whose files an image contains
 */
export function writeSbom(release, file, { arch = 'x64', debian = [] } = {}) {
  const { version, epoch } = release
  const components = [
    ...npmComponents(release.root, arch),
    nodeComponent,
    ...debian.map((each) => debianComponent(each, arch)),
  ]
  const metadata = {
    timestamp: new Date(epoch * 1000).toISOString(),
    component: { type: 'application', 'bom-ref': 'berth', name: 'berth', version, licenses: [license('Apache-2.0')] },
  }
  const content = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata, components }
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(content))}`
  writeFileSync(file, `${JSON.stringify({ ...content, serialNumber }, null, 2)}\n`)
}

/** @param {string} root @param {Arch} arch */
function npmComponents(root, arch) {
  const workspace = join(root, 'images/workspace')
  const isShipped = (/** @type {string} */ path) =>
    path.includes('/node-pty-') ? path.endsWith(`-linux-${arch}`) : existsSync(join(workspace, path))
  const installed = productionPackages(workspace, '').filter(([path]) => isShipped(path))
  const all = [...productionPackages(root, 'cli'), ...installed]
  const packages = all.filter(
    ([path, { version, dev }]) => path.includes('node_modules/') && version !== undefined && !dev,
  )
  const components = packages.map(([path, entry]) => npmComponent(path, entry))
  return [...new Map(components.map((each) => [each.purl, each])).values()].sort((a, b) => (a.purl < b.purl ? -1 : 1))
}

/** @param {string} path @param {Locked} entry */
function npmComponent(path, { version = '', integrity, license: spdx }) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [, digest] = /^sha512-(.+)$/.exec(integrity ?? '') ?? []
  const hashes = digest ? [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] : undefined
  return { type: 'library', 'bom-ref': purl, name, version, purl, hashes, licenses: spdx ? [license(spdx)] : undefined }
}

const nodeComponent = {
  type: 'application',
  'bom-ref': 'node',
  name: 'node',
  version: pinnedVersion,
  purl: `pkg:generic/node@${pinnedVersion}`,
  licenses: [license('MIT')],
}

/** @param {DebianPackage} found @param {Arch} arch */
function debianComponent({ name, version }, arch) {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${debianNames[arch]}&distro=debian-12`
  return { type: 'library', 'bom-ref': purl, name, version, purl }
}

/** Terms such as "(MIT OR CC0-1.0)" are expressions. @param {string} spdx */
function license(spdx) {
  return /[ (]/.test(spdx) ? { expression: spdx } : { license: { id: spdx } }
}

/** RFC 9562 5.8: the same content has the same number. @param {string} text */
function uuidOf(text) {
  const digits = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(digits.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant}${digits.slice(18, 20)}-${digits.slice(20, 32)}`
}
