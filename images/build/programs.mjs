import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findProgram, run } from './run.mjs'

/**
 * @typedef {object} Programs the machine's own files that go into the images
 * @property {string} node
 * @property {string} busybox
 * @property {readonly string[]} libraries shared libraries and the loader, by the paths at which programs look for them
 */

/** Parts of glibc before 2.34 that it loads by name when it looks up hosts; no program is linked with them. */
const loadedByName = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2']

/**
 * @param {string} nodeBinary
 * @returns {Promise<Programs>}
 * @throws with the name of the package to install, when BusyBox is missing
 */
export async function findPrograms(nodeBinary) {
  const busybox = findProgram('busybox')
  if (!busybox) {
    throw new Error('The demo images need BusyBox for their shell. Install it: apt-get install busybox-static')
  }
  const node = realpathSync(nodeBinary)
  const linked = await Promise.all([librariesOf(node), librariesOf(busybox)])
  const libraries = [...new Set(linked.flat())]
  return { node, busybox, libraries: [...new Set([...libraries, ...loadedBy(libraries)])].sort() }
}

/**
 * @param {string} program
 * @returns {Promise<string[]>} none for a static program, at which `ldd` fails
 */
export async function librariesOf(program) {
  const text = await run('ldd', [program], { limitMs: 10_000 }).catch(() => '')
  const missing = /^\s*(\S+) => not found/m.exec(text)
  if (missing) throw new Error(`${program} needs ${missing[1]}, which this machine does not have.`)
  return [...text.matchAll(/(?:=>\s*|^\s*)(\/\S+)(?= \()/gm)].map((match) => match[1] ?? '')
}

/** @param {readonly string[]} libraries */
function loadedBy(libraries) {
  const libc = libraries.find((path) => path.endsWith('/libc.so.6'))
  if (!libc) return []
  return loadedByName.map((name) => join(dirname(libc), name)).filter((path) => existsSync(path))
}

/**
 * The names under which BusyBox answers, as paths without the leading slash.
 * @param {string} busybox
 * @returns {Promise<string[]>}
 */
export async function appletsOf(busybox) {
  const list = await run(busybox, ['--list-full'], { limitMs: 10_000 })
  return list.split('\n').filter((path) => /^[a-z0-9/._[\]-]+$/i.test(path) && !path.endsWith('/busybox'))
}

/** First terminal descriptions that the machine has; programs that draw on the screen look for one. @returns {string | undefined} */
export function findTerminfo() {
  const folders = ['/usr/share/terminfo', '/lib/terminfo', '/etc/terminfo']
  return folders.find(
    (folder) => existsSync(join(folder, 'x')) && readdirSync(join(folder, 'x')).includes('xterm-256color'),
  )
}
