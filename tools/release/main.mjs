/**
 * `npm run release`: makes the artefacts of this commit in `dist/`. After `npm ci` and a first release it needs no
 * network; the same commit gives the same bytes. See docs/explanation/decisions/052.
 * `--trial` packs changes that are not committed; `--root=DIR --release=VERSION --only=tarball` packs another checkout.
 * `--signing-key=FILE` (a secret key of OpenPGP) signs checksums and provenance, and makes a repository for apt in `dist/apt`.
 */
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareWorkspace } from '../../images/build-demo-images.mjs'
import { pinnedVersion } from '../setup/packages/node.mjs'
import { SetupProblem } from '../setup/problem.mjs'
import { makeAptRepository, publicKeyName, Signer, writeProvenance } from './apt-repository.mjs'
import { makeDebianPackage } from './debian-package.mjs'
import { makeImageIndex } from './image/image-index.mjs'
import { imageLayout, makeImage } from './image/make-image.mjs'
import { sha256Of } from './pack.mjs'
import { makeProgramTree } from './program-tree.mjs'
import { createReleaseContext } from './release-context.mjs'
import { writeSbom } from './sbom.mjs'
import { makeTarball } from './tarball.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */

const repository = resolve(import.meta.dirname, '../..')
const { values: options } = parseArgs({
  options: {
    root: { type: 'string', default: repository },
    dist: { type: 'string', default: join(repository, 'dist') },
    release: { type: 'string' },
    only: { type: 'string' },
    trial: { type: 'boolean', default: false },
    'signing-key': { type: 'string' },
  },
})

try {
  await main()
} catch (error) {
  if (!(error instanceof SetupProblem)) throw error
  console.error(`\n${error.message}\n`)
  process.exitCode = 1
}

async function main() {
  const root = resolve(options.root)
  const work = join(repository, '.berth/release/work')
  const version = options.release === undefined ? {} : { version: options.release }
  const release = createReleaseContext({ root, work, dist: resolve(options.dist), isTrial: options.trial, ...version })
  for (const folder of [work, release.dist]) {
    if (folder === work) rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
  }
  if (root === repository) await prepareWorkspace({ log: console.log })
  const tree = await during('program', () => makeProgramTree(release))
  await makeArtefacts(release, tree)
  rmSync(work, { recursive: true, force: true })
}

/** @param {ReleaseContext} release @param {string} tree */
async function makeArtefacts(release, tree) {
  /** @type {[string, () => Promise<string>][]} */
  const makers = [
    ['tarball', () => makeTarball(release, tree, 'x64')],
    ['tarball for arm64', () => makeTarball(release, tree, 'arm64')],
    ['Debian package', () => makeDebianPackage(release, tree, 'x64')],
    ['Debian package for arm64', () => makeDebianPackage(release, tree, 'arm64')],
    ['OCI image', () => makeImage(release, tree, 'x64')],
    ['OCI image for arm64', () => makeImage(release, tree, 'arm64')],
    ['OCI image index', () => makeImageIndex(release, [imageLayout(release, 'x64'), imageLayout(release, 'arm64')])],
    ['SBOM', () => makeSbom(release)],
    ['OpenAPI document', async () => copyOpenApi(release, tree)],
  ]
  /** @type {string[]} */
  const names = []
  for (const [what, make] of makers.filter(([what]) => options.only === undefined || what === options.only))
    names.push(await during(what, make))
  if (options.only !== undefined) return
  const sums = await sumsOf(release, names)
  const provenance = writeProvenance(release, sums, pinnedVersion)
  for (const [name, sum] of await sumsOf(release, [provenance])) sums.set(name, sum)
  const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`)
  writeFileSync(join(release.dist, 'SHA256SUMS'), lines.sort().join(''))
  const keyFile = options['signing-key']
  if (keyFile === undefined) return console.log('not signed, and no repository for apt: --signing-key=FILE names a key')
  await during('signatures and repository for apt', () => sign(release, names, provenance, resolve(keyFile)))
}

/** @param {ReleaseContext} release @param {readonly string[]} names @returns {Promise<Map<string, string>>} SHA-256 by name */
async function sumsOf(release, names) {
  const sums = names.map(async (name) => /** @type {const} */ ([name, await sha256Of(join(release.dist, name))]))
  return new Map(await Promise.all(sums))
}

/** @param {ReleaseContext} release @param {readonly string[]} names @param {string} provenance @param {string} keyFile */
async function sign(release, names, provenance, keyFile) {
  const signer = await Signer.open(release, keyFile)
  try {
    for (const name of ['SHA256SUMS', provenance])
      await signer.sign(join(release.dist, name), join(release.dist, `${name}.asc`))
    await signer.exportPublicKey(join(release.dist, publicKeyName))
    const packages = names.filter((name) => name.endsWith('.deb'))
    return await makeAptRepository(release, packages, signer)
  } finally {
    await signer.close()
  }
}

/** The description of the API beside the programs, for generators of clients. @param {ReleaseContext} release @param {string} tree */
function copyOpenApi(release, tree) {
  const name = `berth-${release.version}.openapi.json`
  copyFileSync(join(tree, 'docs/reference/openapi.json'), join(release.dist, name))
  return name
}

/** @param {ReleaseContext} release */
async function makeSbom(release) {
  const name = `berth-${release.version}.cdx.json`
  writeSbom(release, join(release.dist, name))
  return name
}

/**
 * @param {string} what
 * @param {() => Promise<string>} work
 */
async function during(what, work) {
  const start = performance.now()
  const made = await work()
  const file = join(resolve(options.dist), made)
  const size =
    existsSync(file) && statSync(file).isFile() ? `${made}, ${(statSync(file).size / 1e6).toFixed(1)} MB, ` : ''
  console.log(`${what}: ${size}${((performance.now() - start) / 1000).toFixed(1)} s`)
  return made
}
