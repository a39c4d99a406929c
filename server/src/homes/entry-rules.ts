import type { TarHeader } from 'modern-tar'
import { message } from '@berth/texts/localized-message.ts'
import { BadArchive, badName, fileAndFolder, missingTarget, sparseArchive, tooManyFiles } from './bad-archive.ts'
import { NameHashes } from '#/engines/transport/name-hashes.ts'
import { isKept, pathIn } from '#/engines/transport/rewrite-archive.ts'

/** Bytes of names that are kept in memory to compare later ones with: of folders and of symbolic links. */
const maxNames = 32 * 1024 ** 2
/** Of a path, and of a name in it, in bytes: what file systems take, less the path of the new folder in the engine. */
const [maxPath, maxName] = [4_000, 255]
/** Mode bits that are kept: no setuid, setgid or sticky bit. */
const permissions = 0o777
/** Seconds that the header of an entry has room for. */
const maxTime = 8 ** 11 - 1

/**
 * Which entries of an archive are taken, and how: no entry and no target of a hard link behind a symbolic link, folders
 * before what is in them. Each entry costs time by the length of its name, and each folder is added once.
 */
export class EntryRules {
  readonly #maxEntries: number
  /** Of each of them all folders above are in it, and none is a link. */
  readonly #folders: Set<string>
  /** Symbolic links, and hard links to these, which are symbolic links, too. */
  readonly #links = new Set<string>()
  /** Files and links that were kept. */
  readonly #files = new NameHashes()
  #entries = 0
  #names = 0

  /** @param folders empty; for tests, which count what is looked up */
  constructor(maxEntries: number, folders = new Set<string>()) {
    this.#maxEntries = maxEntries
    this.#folders = folders
  }

  /** Whether nothing was kept. */
  get isEmpty(): boolean {
    return this.#folders.size === 0
  }

  /** @returns the entry, behind the folders that it needs; nothing for what is left out @throws {BadArchive} */
  rewrite(header: TarHeader): TarHeader[] {
    if (++this.#entries > this.#maxEntries) throw tooManyFiles(this.#maxEntries)
    const name = requireInside(header.name)
    if (header.pax && Object.keys(header.pax).some((key) => key.startsWith('GNU.sparse'))) throw sparseArchive()
    if (!isKept(header)) return []
    if (header.type === 'directory') return [...this.#foldersAbove(name), ...this.#folder(name, header)]
    if (name === '') throw badName(header.name)
    if (this.#folders.has(name)) throw fileAndFolder(header.name)
    const entry = [...this.#foldersAbove(name), this.#entry(name, header)]
    this.#files.add(name)
    return entry
  }

  #entry(name: string, header: TarHeader): TarHeader {
    const plain = { name, size: header.size, mode: (header.mode ?? 0o644) & permissions, ...timeOf(header) }
    if (header.type === 'file') return { ...plain, type: 'file' }
    if (header.type === 'link') return { ...plain, size: 0, type: 'link', linkname: this.#hardLinkTarget(name, header) }
    this.#remember(this.#links, name)
    return { ...plain, size: 0, mode: permissions, type: 'symlink', linkname: symbolicLinkTarget(header) }
  }

  /** An entry of the archive that comes before, in a folder of it: engines refuse the whole archive for another one. */
  #hardLinkTarget(name: string, header: TarHeader): string {
    const target = requireInside(header.linkname ?? '')
    if (!this.#folders.has(folderOf(target)) || this.#folders.has(target)) throw badName(header.name)
    if (!this.#files.has(target)) throw missingTarget(header.name)
    if (this.#links.has(target)) this.#remember(this.#links, name)
    return target
  }

  /** Folders that have no entry of their own; the engine would give them to root. */
  #foldersAbove(name: string): TarHeader[] {
    const missing: string[] = []
    for (let path = name; path !== '' && !this.#folders.has(folderOf(path)); path = folderOf(path))
      missing.push(folderOf(path))
    if (missing.some((folder) => this.#links.has(folder))) throw badName(name)
    return missing.toReversed().flatMap((folder) => this.#folder(folder))
  }

  #folder(name: string, header?: TarHeader): TarHeader[] {
    if (this.#links.has(name)) throw badName(name)
    if (this.#files.has(name)) throw fileAndFolder(name)
    this.#remember(this.#folders, name)
    const mode = ((header?.mode ?? 0o755) & permissions) | 0o700
    return [{ name: name === '' ? './' : `${name}/`, size: 0, type: 'directory', mode, ...timeOf(header) }]
  }

  #remember(names: Set<string>, name: string): void {
    if (names.has(name)) return
    names.add(name)
    this.#names += name.length + 64
    if (this.#names > maxNames) throw new BadArchive(message('snapshots.tooManyFolders'))
  }
}

/** Of a path as `pathIn` makes it; empty for what is at the top. */
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** @returns the path below the top @throws {BadArchive} for one that leads elsewhere */
function requireInside(name: string): string {
  const isInside = !name.startsWith('/') && !/(?:^|\/)\.\.(?:\/|$)/.test(name) && !name.includes('\0')
  if (!isInside || name.length > maxPath) throw badName(name)
  const path = pathIn(name)
  if (Buffer.byteLength(path) > maxPath || hasLongName(path)) throw badName(name)
  return path
}

function hasLongName(path: string): boolean {
  for (let [at, end] = [0, 0]; end !== -1; at = end + 1) {
    end = path.indexOf('/', at)
    const name = [at, end === -1 ? path.length : end] as const
    // A character has at most three bytes.
    if (name[1] - name[0] > maxName / 3 && Buffer.byteLength(path.slice(...name)) > maxName) return true
  }
  return false
}

/** A link may lead anywhere, as a link that a program in the container makes: nothing follows it here. */
function symbolicLinkTarget({ linkname = '', name }: TarHeader): string {
  if (linkname === '' || linkname.includes('\0') || Buffer.byteLength(linkname) > maxPath) throw badName(name)
  return linkname
}

/** None for a time that a header has no room for: engines refuse the whole archive for such a header. */
function timeOf(header: TarHeader | undefined): { mtime?: Date } {
  const seconds = (header?.mtime?.getTime() ?? Number.NaN) / 1_000
  return seconds >= 0 && seconds <= maxTime ? { mtime: new Date(seconds * 1_000) } : {}
}
