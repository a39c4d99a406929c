import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../../setup/problem.mjs'
import { run } from '../../setup/run.mjs'

/** @import { ReleaseContext } from '../release-context.mjs' */
/** @import { SystemFiles } from './machine-files.mjs' */

/** What Node, the demo app's terminal, BusyBox and GNU tar are and need. */
const packages = ['libc6', 'libstdc++6', 'libgcc-s1', 'busybox-static', 'tar', 'libacl1', 'libselinux1', 'libpcre2-8-0']

/** Where Debian keeps them. */
const folders = ['lib/aarch64-linux-gnu', 'usr/lib/aarch64-linux-gnu', 'lib', 'bin', 'usr/bin']

/**
 * Files of Debian for ARM64, of the release that this machine has: by its apt and its sources. Packages are downloaded once, and again
 * when the sources have another version of one, such as a security update. Where the sources are not reached, those of the last
 * time are taken, and a line says so. The machine's own packages stay as they are.
 * @param {ReleaseContext} release
 * @returns {Promise<SystemFiles>}
 * @throws {SetupProblem} when apt, readelf or a package is missing, or the network the first time
 */
export async function debianFiles(release) {
  const folder = await currentPackages(join(release.work, '..', 'debian-arm64'), release.env)
  const root = join(folder, 'root')
  /** @param {string} name */
  const find = (name) => {
    const found = folders.map((each) => join(root, each, name)).find((path) => existsSync(path))
    if (found === undefined) throw new SetupProblem(`${name} is in none of Debian's packages ${packages.join(', ')}.`)
    return found
  }
  /** @param {string} file @param {Map<string, string>} [known] @returns {[string, string][]} */
  const libraries = (file, known = new Map()) => {
    for (const name of neededBy(file).filter((each) => !known.has(each))) {
      known.set(name, find(name))
      libraries(find(name), known)
    }
    return [...known].map(([name, path]) => [inImage(name), path])
  }
  return {
    loader: `/lib/${loader}`,
    program: find,
    libraries: async (file) => libraries(file),
    // All of them: each has a file in the image.
    packages: () =>
      readdirSync(join(folder, 'archives'))
        .filter((name) => name.endsWith('.deb'))
        .sort()
        .map((name) => decodeURIComponent(name).split('_'))
        .map(([name = '', version = '']) => ({ name, version })),
  }
}

const loader = 'ld-linux-aarch64.so.1'

/** Programs name the loader by its path; others are looked for. @param {string} name */
const inImage = (name) => (name === loader ? `/lib/${loader}` : `/lib/aarch64-linux-gnu/${name}`)

/** Shared libraries that a program names, and the loader. @param {string} file */
function neededBy(file) {
  const text = execFileSync('readelf', ['--dynamic', '--program-headers', '--wide', file], { encoding: 'utf8' })
  const names = [...text.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map(([, name = '']) => name)
  return text.includes(loader) ? [...names, loader] : names
}

/**
 * @param {string} cache folder of packages; others than the present ones are removed from it
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<string>} folder of the present ones, or without a network of the last ones
 */
async function currentPackages(cache, env) {
  const state = join(cache, 'apt')
  mkdirSync(cache, { recursive: true })
  const apt = await readLists(state, join(cache, 'apt.log'), env).catch((error) => {
    const last = lastPackages(cache)
    if (last === undefined) throw error
    console.log(`Debian's sources are not reached; the packages of the last time are taken (${last})`)
    return last
  })
  if (typeof apt === 'string') return apt
  const key = keyOf(apt.uris())
  const folder = join(cache, key)
  if (!existsSync(join(folder, 'complete'))) {
    rmSync(folder, { recursive: true, force: true })
    const archives = join(folder, 'archives')
    mkdirSync(join(folder, 'root'), { recursive: true })
    mkdirSync(archives)
    await apt.download(archives)
    for (const name of readdirSync(archives))
      await run('dpkg-deb', ['--extract', join(archives, name), join(folder, 'root')], { log: join(cache, 'apt.log') })
    mkdirSync(join(folder, 'complete'))
  }
  for (const name of readdirSync(cache).filter((each) => each !== key && each !== 'apt.log'))
    rmSync(join(cache, name), { recursive: true })
  return folder
}

/** Packages of an earlier run, of which one is kept. @param {string} cache */
const lastPackages = (cache) =>
  readdirSync(cache)
    .map((name) => join(cache, name))
    .find((folder) => existsSync(join(folder, 'complete')))

/**
 * @param {string} uris what apt prints: a line for each package, with its address, file, size and hash
 * @returns {string} one for the same packages, whichever mirror has them
 * @throws {SetupProblem} when a package is missing
 */
export function keyOf(uris) {
  const files = [...uris.matchAll(/^'[^']+' (\S+) \d+ (\S+)$/gm)].map(([, name = '', hash = '']) => `${name} ${hash}`)
  if (files.length < packages.length)
    throw new SetupProblem(`apt has ${files.length} of Debian's packages ${packages.join(', ')}:\n${uris}`)
  return createHash('sha256').update(files.sort().join('\n')).digest('hex').slice(0, 16)
}

/** The sources' lists for ARM64, in a folder of their own; throws when one is not reached. @param {string} state @param {string} log @param {NodeJS.ProcessEnv} env */
async function readLists(state, log, env) {
  rmSync(state, { recursive: true, force: true })
  for (const path of [join(state, 'lists/partial'), join(state, 'archives/partial')])
    mkdirSync(path, { recursive: true })
  writeFileSync(join(state, 'status'), '')
  const settings = {
    'APT::Architecture': 'arm64',
    'APT::Architectures::': 'arm64',
    'APT::Sandbox::User': 'root',
    'Dir::State': state,
    'Dir::State::status': join(state, 'status'),
    'Dir::Cache': state,
  }
  const how = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  // Without a network apt calls it a success, and has no packages afterwards.
  await run('apt-get', [...how, 'update', '--error-on=any'], { log, env })
  return {
    uris: () =>
      execFileSync('apt-get', [...how, '--print-uris', 'download', ...packages], {
        encoding: 'utf8',
        env,
        timeout: 60_000,
      }),
    /** @param {string} folder */
    download: (folder) => run('apt-get', [...how, 'download', ...packages], { log, cwd: folder, env }),
  }
}
