import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { containerToolFile } from '../../setup/build/container-tool.mjs'
import { run } from '../../setup/run.mjs'
import { debianFiles } from './debian-files.mjs'
import { imageConfig } from './image-config.mjs'
import { imageUser, makeImageRoot } from './image-root.mjs'
import { machineFiles } from './machine-files.mjs'
import { packFolder, sha256Of } from '../pack.mjs'
import { debianNames } from '../debian-names.mjs'
import { writeSbom } from '../sbom.mjs'
import { withNode } from '../tarball.mjs'

/** @import { ReleaseContext } from '../release-context.mjs' */
/** @import { Arch } from '../registry-package.mjs' */
/** @typedef {{ digest: string, size: number, diffId: string, about: string }} Layer `diffId`: digest before compression */

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
}

/** Where `makeImage` leaves its layout. @param {ReleaseContext} release @param {Arch} arch */
export const imageLayout = ({ work }, arch) => join(work, `image-${arch}`)

/**
 * The image as one archive that is both an OCI image layout (image-spec, image-layout.md) and what `docker load` of any version
 * reads (`manifest.json`). Made without an engine, a builder and a registry.
 * @param {ReleaseContext} release
 * @param {string} tree of `makeProgramTree`
 * @param {Arch} arch
 * @returns {Promise<string>} name of the file in `dist`
 */
export async function makeImage(release, tree, arch) {
  const { version, work, dist } = release
  const layout = imageLayout(release, arch)
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
  const program = join(work, 'image-program')
  const own = await withNode(release, tree, arch, join(program, 'usr/lib/berth'))
  const terminal = join(own, `images/workspace/node_modules/@lydell/node-pty-linux-${arch}/pty.node`)
  const files = arch === 'x64' ? machineFiles : await debianFiles(release)
  const system = join(work, 'image-system')
  const debian = await makeImageRoot(system, files, [join(own, 'node'), terminal])
  finishProgram(release, program, { arch, debian }, arch)
  const account = [`--owner=${imageUser}`, `--group=${imageUser}`]
  const layers = [
    await addLayer(release, layout, system, ['.'], 'libraries of Node, BusyBox and tar: from Debian'),
    await addLayer(release, layout, program, ['usr'], `Berth ${version} and Node`),
    await addLayer(release, layout, ownFolders(work), ['tmp', 'var'], 'folders that Berth writes to', account),
  ]
  const config = addJson(layout, imageConfig(release, arch, layers))
  const manifest = addJson(layout, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: { mediaType: mediaTypes.config, ...config },
    layers: layers.map(({ digest, size }) => ({ mediaType: mediaTypes.layer, digest, size })),
  })
  writeIndexes(layout, version, { config, manifest, layers })
  const name = `berth-${version}-oci-${debianNames[arch]}.tar`
  await packFolder(release, join(dist, name), layout, ['blobs', 'index.json', 'manifest.json', 'oci-layout'])
  return name
}

/** @param {ReleaseContext} release @param {string} root @param {NonNullable<Parameters<typeof writeSbom>[2]>} of @param {Arch} arch */
function finishProgram(release, root, of, arch) {
  const program = join(root, 'usr/lib/berth')
  writeSbom(release, join(program, 'sbom.cdx.json'), of)
  copyFileSync(join(import.meta.dirname, '../files/image-health'), join(program, 'health'))
  mkdirSync(join(root, 'usr/bin'))
  symlinkSync('/usr/lib/berth/berth', join(root, 'usr/bin/berth'))
  // An old version has none. A cluster brings it into pods from this image.
  const tool = containerToolFile('.berth', arch)
  if (existsSync(join(program, tool))) symlinkSync(`/usr/lib/berth/${tool}`, join(root, 'usr/bin/berth-tool'))
}

/** @param {string} work */
function ownFolders(work) {
  const root = join(work, 'image-folders')
  for (const name of ['tmp', 'var/lib/berth', 'var/cache/berth'])
    mkdirSync(join(root, name), { recursive: true, mode: 0o755 })
  return root
}

/**
 * @param {ReleaseContext} release
 * @param {string} layout
 * @param {string} root
 * @param {readonly string[]} names
 * @param {string} about
 * @param {readonly string[]} [options] of tar
 * @returns {Promise<Layer>}
 */
async function addLayer(release, layout, root, names, about, options = []) {
  const tar = join(release.work, 'layer.tar')
  const log = join(release.work, 'pack.log')
  await packFolder(release, tar, root, names, ['--mode=u+rwX,go+rX,go-w', ...options])
  const diffId = `sha256:${await sha256Of(tar)}`
  await run('gzip', ['-6', '--no-name', '--force', tar], { log, env: release.env })
  const hash = await sha256Of(`${tar}.gz`)
  const { size } = statSync(`${tar}.gz`)
  renameSync(`${tar}.gz`, join(layout, 'blobs/sha256', hash))
  rmSync(root, { recursive: true, force: true })
  return { digest: `sha256:${hash}`, size, diffId, about }
}

/** Adds a blob. @param {string} layout @param {unknown} content */
export function addJson(layout, content) {
  const text = JSON.stringify(content)
  const hash = createHash('sha256').update(text).digest('hex')
  writeFileSync(join(layout, 'blobs/sha256', hash), text)
  return { digest: `sha256:${hash}`, size: Buffer.byteLength(text) }
}

/**
 * @param {string} layout
 * @param {string} version
 * @param {{ config: { digest: string }, manifest: { digest: string, size: number }, layers: readonly Layer[] }} made
 */
function writeIndexes(layout, version, { config, manifest, layers }) {
  const blob = (/** @type {string} */ digest) => `blobs/sha256/${digest.replace('sha256:', '')}`
  const names = {
    'io.containerd.image.name': `docker.io/library/berth:${version}`,
    'org.opencontainers.image.ref.name': version,
  }
  const index = { schemaVersion: 2, manifests: [{ mediaType: mediaTypes.manifest, ...manifest, annotations: names }] }
  const loadable = [
    { Config: blob(config.digest), RepoTags: [`berth:${version}`], Layers: layers.map(({ digest }) => blob(digest)) },
  ]
  writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index))
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify(loadable))
}
