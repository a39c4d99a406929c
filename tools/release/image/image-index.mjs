import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packFolder } from '../pack.mjs'
import { addJson } from './make-image.mjs'

/** @import { ReleaseContext } from '../release-context.mjs' */
/** @typedef {{ mediaType: string, digest: string, size: number }} Descriptor */

const indexType = 'application/vnd.oci.image.index.v1+json'

/**
 * The images of all kinds of machine as one, of which a registry gives each machine its own: an OCI image layout with an image
 * index (image-spec, image-index.md), for programs that push to a registry. Made of the layouts of `makeImage`, whose blobs it shares.
 * @param {ReleaseContext} release
 * @param {readonly string[]} layouts folders of image layouts, each with one image
 * @returns {Promise<string>} name of the file in `dist`
 */
export async function makeImageIndex(release, layouts) {
  const { version, work, dist } = release
  const all = join(work, 'image-index')
  const blobs = join(all, 'blobs/sha256')
  mkdirSync(blobs, { recursive: true })
  const manifests = layouts.map((layout) => {
    const own = join(layout, 'blobs/sha256')
    const there = new Set(readdirSync(blobs))
    for (const name of readdirSync(own)) if (!there.has(name)) linkSync(join(own, name), join(blobs, name))
    const { mediaType, digest, size } = onlyImageOf(layout)
    return { mediaType, digest, size, platform: platformOf(own, digest) }
  })
  const annotations = { 'org.opencontainers.image.version': version }
  const index = addJson(all, { schemaVersion: 2, mediaType: indexType, manifests, annotations })
  const named = { mediaType: indexType, ...index, annotations: { 'org.opencontainers.image.ref.name': version } }
  writeFileSync(join(all, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(all, 'index.json'), JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests: [named] }))
  const name = `berth-${version}-oci.tar`
  await packFolder(release, join(dist, name), all, ['blobs', 'index.json', 'oci-layout'])
  return name
}

/** @param {string} layout @returns {Descriptor} */
function onlyImageOf(layout) {
  const { manifests } = readJson(join(layout, 'index.json'))
  if (manifests.length !== 1) throw new Error(`${layout} has ${manifests.length} images, not one`)
  return manifests[0]
}

/** What its configuration says that it runs on. @param {string} blobs @param {string} digest of its manifest */
function platformOf(blobs, digest) {
  const fileOf = (/** @type {string} */ of) => join(blobs, of.replace('sha256:', ''))
  const { architecture, os, variant } = readJson(fileOf(readJson(fileOf(digest)).config.digest))
  return { architecture, os, ...(variant === undefined ? {} : { variant }) }
}

/** @param {string} file */
const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'))
