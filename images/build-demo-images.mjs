/**
 * Makes the demo images from what is on this machine: `node images/build-demo-images.mjs`. No registry, no network but for the app's
 * npm packages, no builder.
 * - The same files give the same fingerprint, kept as a label on the images; when the engine has it, nothing is done.
 * - Both images have the same layers and differ in one variable.
 * - Plain JavaScript for Node 20 without a dependency, because set-up runs it first.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeArchive } from './build/archive.mjs'
import { Engine } from './build/engine.mjs'
import { fingerprint } from './build/fingerprint.mjs'
import { locked } from './build/lock.mjs'
import { paths } from './build/paths.mjs'
import { findPrograms } from './build/programs.mjs'
import { makeWorkspace } from './build/workspace.mjs'

/** @import { Programs } from './build/programs.mjs' */

/** @typedef {(line: string) => void} Log */

/** By container type. */
const tags = { dev: 'berth-demo-dev:latest', prod: 'berth-demo-prod:latest' }
const modes = { [tags.dev]: 'workspace', [tags.prod]: 'site' }

const lock = join(paths.own, 'lock')

/**
 * Makes sure that the engine has the demo images as they would be built now. A tenth of a second when it has.
 * @param {{ dockerHost?: string, log?: Log, nodeBinary?: string }} [options] `nodeBinary` goes into the images; this process's own
 *   unless given
 * @returns {Promise<{ dev: string, prod: string }>} their names
 * @throws when BusyBox is missing, the app's packages cannot be installed, or the engine refuses
 */
export async function ensureDemoImages({
  dockerHost = process.env.DOCKER_HOST,
  log = () => {},
  nodeBinary = process.execPath,
} = {}) {
  const engine = new Engine(dockerHost || undefined)
  const programs = await findPrograms(nodeBinary)
  const content = fingerprint(programs)
  if (await hasImages(engine, content)) return tags
  const buildMissing = async () => {
    // Another process may have built them while this one waited.
    if (!(await hasImages(engine, content))) await build(engine, programs, content, log)
  }
  await locked(lock, buildMissing, log)
  return tags
}

/**
 * What the tests of the app need: its packages, and its bundled pages.
 * @param {{ log?: Log }} [options]
 */
export async function prepareWorkspace({ log = () => {} } = {}) {
  await locked(lock, () => makeWorkspace(log), log)
}

/** @param {Engine} engine @param {string} content */
async function hasImages(engine, content) {
  const found = await Promise.all(Object.values(tags).map((tag) => engine.findImage(tag)))
  return found.every((image) => image?.content === content)
}

/**
 * @param {Engine} engine
 * @param {Programs} programs
 * @param {string} content
 * @param {Log} log
 */
async function build(engine, programs, content, log) {
  await makeWorkspace(log)
  log('building the demo images ...')
  const before = await Promise.all(Object.values(tags).map((tag) => engine.findImage(tag)))
  mkdirSync(paths.own, { recursive: true })
  const folder = mkdtempSync(join(paths.own, 'archive-'))
  try {
    const names = await writeArchive(folder, { programs, images: modes, content })
    await load(engine, folder, names)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  if (!(await hasImages(engine, content))) throw new Error('The engine took the demo images but does not show them.')
  for (const image of before) if (image) await engine.removeUnused(image.id)
  for (const tag of Object.values(tags)) log(`${tag} has ${((await engine.findImage(tag))?.size ?? 0) / 1e6} MB`)
}

/** @param {Engine} engine @param {string} folder @param {readonly string[]} names */
async function load(engine, folder, names) {
  const tar = spawn('tar', ['--create', '--file=-', `--directory=${folder}`, ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const failed = new Promise((_resolve, reject) => {
    tar.once('error', reject)
    tar.once('exit', (code) => code && reject(new Error(`tar ended with ${code}`)))
  })
  try {
    await Promise.race([engine.load(tar.stdout), failed])
  } finally {
    tar.kill()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const start = performance.now()
  const names = await ensureDemoImages({ log: console.log })
  console.log(`${Object.values(names).join(' and ')} are there (${Math.round(performance.now() - start)} ms)`)
}
