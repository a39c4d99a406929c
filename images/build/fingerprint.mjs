import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, readSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { paths } from './paths.mjs'

/** @import { Programs } from './programs.mjs' */

const sources = ['build-demo-images.mjs', 'build', 'workspace']
const notSources = /^(node_modules|testing|\..*|.*\.test\.m?js)$/

/** Bytes looked at from each end of a program. The ends hold its build id and its tables; reading 130 MB takes too long. */
const looked = 65_536

/**
 * Changes whenever the images would: by content, because a checkout changes times. Takes some ten milliseconds.
 * @param {Programs} programs
 */
export function fingerprint({ node, busybox, libraries }) {
  const hash = createHash('sha256').update(process.arch)
  for (const file of sources.flatMap((name) => filesOf(join(paths.images, name)))) {
    hash.update(`\0${relative(paths.images, file)}\0`).update(readFileSync(file))
  }
  hash.update('\0node\0').update(endsOf(node)).update('\0busybox\0').update(endsOf(busybox))
  for (const library of libraries) hash.update(`\0${library}\0`).update(endsOf(library))
  return hash.digest('hex').slice(0, 32)
}

/**
 * The hash of some source files alone.
 * @param {readonly string[]} names below `images/`
 */
export function hashOf(names) {
  const hash = createHash('sha256')
  for (const file of names.flatMap((name) => filesOf(join(paths.images, name))))
    hash.update(`\0${relative(paths.images, file)}\0`).update(readFileSync(file))
  return hash.digest('hex')
}

/** @param {string} path @returns {string[]} sorted */
function filesOf(path) {
  if (/\.[a-z]+$/.test(path)) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !notSources.test(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)]))
}

/** @param {string} file */
function endsOf(file) {
  const descriptor = openSync(file, 'r')
  try {
    const { size } = fstatSync(descriptor)
    const ends = Buffer.alloc(2 * looked)
    readSync(descriptor, ends, 0, looked, 0)
    readSync(descriptor, ends, looked, looked, Math.max(0, size - looked))
    return Buffer.concat([ends, Buffer.from(String(size))])
  } finally {
    closeSync(descriptor)
  }
}
