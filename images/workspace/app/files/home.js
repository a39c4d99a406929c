import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { link, lstat, mkdir, open, readdir, realpath, rename, rm, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { Refusal } from '../refusal.js'

/** @import { BigIntStats, Dirent } from 'node:fs' */

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {'file' | 'folder' | 'other'} kind what a link leads to; `other` for what cannot be opened here
 * @property {number} size bytes
 */

/** A folder with more entries is listed up to here: the page has to stay usable. */
const maxEntries = 2_000

/**
 * The files below one folder, named by relative paths with `/`.
 * - A path outside the folder, by `..` or by a symbolic link, is refused with 403.
 * - Writes are atomic: a temporary file beside the target is renamed over it.
 * - This is no security boundary: its user has a terminal as the same Unix user. So the gap between
 *   checking a path and using it remains.
 */
export class Home {
  /** @type {string} */
  #root

  /** @param {string} folder absolute; must exist */
  constructor(folder) {
    this.#root = realpathSync(folder)
  }

  /** Absolute path, free of links. */
  get root() {
    return this.#root
  }

  /**
   * Resolves symbolic links of a path. The last part need not exist.
   * @param {string} path
   * @returns {Promise<string>} absolute
   * @throws {Refusal} 403 when it is outside the home
   */
  async locate(path) {
    const wanted = this.#join(path)
    return this.#within(await realpath(wanted).catch(() => this.#locateNew(wanted)))
  }

  /**
   * @param {string} path of a folder
   * @returns {Promise<{ entries: Entry[], isCut: boolean }>} folders first, then by name
   */
  async list(path) {
    const folder = await this.locate(path)
    const found = (await readdir(folder, { withFileTypes: true })).filter(({ name }) => !isTemporary(name))
    const entries = await Promise.all(found.slice(0, maxEntries).map((entry) => this.#describe(folder, entry)))
    return { entries: entries.sort(byKindThenName), isCut: found.length > maxEntries }
  }

  /**
   * @param {string} path of a file
   * @param {number} limit bytes
   * @returns {Promise<{ content: Buffer, version: string }>}
   * @throws {Refusal} 404, 409 for what is no file, 413 above the limit
   */
  async read(path, limit) {
    const file = await this.locate(path)
    const stats = await stat(file, { bigint: true })
    if (!stats.isFile()) throw new Refusal(409, 'This is not a file.')
    if (stats.size > limit) throw new Refusal(413, `This file is too large to open here (at most ${megabytes(limit)}).`)
    const handle = await open(file)
    try {
      return { content: await handle.readFile(), version: versionOf(stats) }
    } finally {
      await handle.close()
    }
  }

  /**
   * @param {string} path of a file
   * @param {AsyncIterable<Uint8Array>} content
   * @param {{ limit: number, expected?: string | undefined, isNew?: boolean }} options `limit` in bytes; `expected` is the
   *   version that the writer has seen, undefined for any; `isNew`: nothing may be there yet
   * @returns {Promise<{ version: string, size: number }>}
   * @throws {Refusal} 409 when something else is there, 413 above the limit; the file is as before then
   */
  async write(path, content, { limit, expected, isNew = false }) {
    const file = await this.locate(path)
    if (file === this.#root) throw new Refusal(409, 'This is a folder, not a file.')
    const before = await stat(file, { bigint: true }).catch(() => undefined)
    if (before?.isDirectory()) throw new Refusal(409, 'A folder of this name is there already.')
    refuseStale(before, expected)
    const temporary = join(
      dirname(file),
      `.${basename(file).slice(0, 100)}.${randomBytes(6).toString('hex')}${temporaryEnd}`,
    )
    try {
      await fill(temporary, content, { limit, mode: before ? Number(before.mode) & 0o777 : 0o644 })
      // A link refuses to replace what is there, a rename does not.
      await (isNew ? link(temporary, file) : rename(temporary, file))
    } finally {
      await unlink(temporary).catch(() => {})
    }
    const after = await stat(file, { bigint: true })
    return { version: versionOf(after), size: Number(after.size) }
  }

  /** @param {string} path @throws {Refusal} 409 when something of this name is there */
  async createFolder(path) {
    await mkdir(await this.locate(path))
  }

  /**
   * Renames or moves; never replaces.
   * @param {string} from
   * @param {string} to
   */
  async move(from, to) {
    const source = await this.#locateEntry(from)
    const target = await this.#locateEntry(to)
    await lstat(source)
    if (await lstat(target).catch(() => undefined)) throw new Refusal(409, 'Something of this name is there already.')
    await rename(source, target)
  }

  /**
   * Takes a file, a link (not what it leads to) or a whole folder away.
   * @param {string} path
   */
  async remove(path) {
    const entry = await this.#locateEntry(path)
    await lstat(entry)
    await rm(entry, { recursive: true, force: true })
  }

  /** @param {string} path */
  #join(path) {
    if (path.includes('\0')) throw new Refusal(400, 'A path cannot contain a NUL character.')
    const parts = path.split('/').filter((part) => part !== '' && part !== '.')
    if (parts.includes('..')) throw new Refusal(403, 'This path leads out of the home folder.')
    return join(this.#root, ...parts)
  }

  /** @param {string} path absolute, free of links */
  #within(path) {
    if (path === this.#root || path.startsWith(this.#root + sep)) return path
    throw new Refusal(403, 'This path leads out of the home folder.')
  }

  /** @param {string} path absolute; what it names does not exist, unless it is a link to nowhere */
  async #locateNew(path) {
    if (await lstat(path).catch(() => undefined)) throw new Refusal(403, 'This link does not lead to anything here.')
    return join(await realpath(dirname(path)), basename(path))
  }

  /**
   * The entry itself: when it is a link, the link.
   * @param {string} path
   */
  async #locateEntry(path) {
    const wanted = this.#join(path)
    if (wanted === this.#root) throw new Refusal(403, 'The home folder itself stays where it is.')
    return join(this.#within(await realpath(dirname(wanted))), basename(wanted))
  }

  /**
   * @param {string} folder
   * @param {Dirent} entry
   * @returns {Promise<Entry>}
   */
  async #describe(folder, entry) {
    const stats = await stat(join(folder, entry.name)).catch(() => undefined)
    const kind = stats?.isFile() ? 'file' : stats?.isDirectory() ? 'folder' : 'other'
    return { name: entry.name, kind, size: stats?.size ?? 0 }
  }
}

const temporaryEnd = '.berth-tmp'

/** @param {string} name */
const isTemporary = (name) => name.startsWith('.') && name.endsWith(temporaryEnd)

/** @param {BigIntStats} stats */
const versionOf = (stats) => `${stats.mtimeNs.toString(36)}-${stats.size.toString(36)}`

/** @param {number} bytes */
const megabytes = (bytes) => `${Math.floor(bytes / 1_000_000)} MB`

/**
 * @param {BigIntStats | undefined} stats
 * @param {string | undefined} expected
 */
function refuseStale(stats, expected) {
  if (expected === undefined) return
  if (!stats) throw new Refusal(409, 'This file was deleted in the meantime.')
  if (versionOf(stats) !== expected) throw new Refusal(409, 'This file was changed by someone else in the meantime.')
}

/**
 * @param {string} file that does not exist yet
 * @param {AsyncIterable<Uint8Array>} content
 * @param {{ limit: number, mode: number }} options
 */
async function fill(file, content, { limit, mode }) {
  const handle = await open(file, 'wx', mode)
  try {
    let size = 0
    for await (const chunk of content) {
      size += chunk.length
      if (size > limit) throw new Refusal(413, `This is too large: at most ${megabytes(limit)} are accepted.`)
      await handle.writeFile(chunk)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** @param {Entry} a @param {Entry} b */
function byKindThenName(a, b) {
  const kinds = Number(b.kind === 'folder') - Number(a.kind === 'folder')
  return kinds || a.name.localeCompare(b.name, 'en', { numeric: true, sensitivity: 'base' })
}
