import { execFileSync } from 'node:child_process'
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
 * Files of Debian for ARM64, of the release that this machine has: by its apt and its sources, once, then from `.berth`.
 * The machine's own packages stay as they are.
 * @param {ReleaseContext} release
 * @returns {Promise<SystemFiles>}
 * @throws {SetupProblem} when apt, readelf or the network is missing, or a package
 */
export async function debianFiles(release) {
  const folder = join(release.work, '..', 'debian-arm64')
  const root = join(folder, 'root')
  if (!existsSync(join(folder, 'complete'))) await fetchPackages(folder, root, release.env)
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

/** @param {string} folder @param {string} root @param {NodeJS.ProcessEnv} env */
async function fetchPackages(folder, root, env) {
  rmSync(folder, { recursive: true, force: true })
  const [archives, state] = [join(folder, 'archives'), join(folder, 'apt')]
  for (const path of [archives, root, join(state, 'lists/partial'), join(state, 'archives/partial')])
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
  const options = { log: join(folder, 'apt.log'), cwd: archives, env }
  await run('apt-get', [...how, 'update'], options)
  await run('apt-get', [...how, 'download', ...packages], options)
  for (const name of readdirSync(archives)) await run('dpkg-deb', ['--extract', join(archives, name), root], options)
  rmSync(state, { recursive: true })
  mkdirSync(join(folder, 'complete'))
}
