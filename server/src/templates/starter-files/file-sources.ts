import { createHash, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { allowedPath } from '#/machine/allowed-paths.ts'
import { answeringPaths } from '#/machine/answering-paths.ts'
import { KeyedMutex } from '#/machine/keyed-mutex.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { catalogueFiles } from '#/templates/catalogue-folder.ts'
import type { TemplateProblem } from '#/templates/read-templates.ts'
import type { FilesOrigin, Template } from '#/templates/template.ts'
import { addCommit, fetchCommit } from './fetch-repository.ts'
import { FileSetBuilder, StarterFilesError, defaultLimits, type FileSet, type SetLimits } from './file-set.ts'
import { addCatalogueFiles } from './packages.ts'
import { addArchive, versionOfArchive } from './read-archive.ts'
import { addFolder, listFolder } from './read-folder.ts'

export interface FileSourcesOptions {
  /** Folder of this process for repositories and content; made when it is first needed. */
  readonly folder: string
  /** `ALLOWED_MOUNT_ROOTS` */
  readonly roots: readonly string[]
  readonly limits?: SetLimits
  /** Timeout of reading or fetching one origin, in ms. */
  readonly timeout?: number
}

/** Timeout of one origin, in ms. */
const defaultTimeout = 300_000
/** A fetch that began so long (ms) before a launch was requested still counts for it, so that a class shares one. */
const maxFetchAge = 250
/** Age of a copy of a file, or of the last fetch of a repository, in ms, that no process uses any more. */
const maxCopyAge = 3_600_000
/** Sets that are kept for the next launch; each takes disk. */
const maxSets = 32

/** An origin that is being read, or was. */
interface Load {
  /** By `performance.now()`; infinite while it waits for the one before. */
  begun: number
  readonly result: Promise<FileSet>
  readonly controller: AbortController
  waiting: number
  isDone: boolean
  /** The result, when it has one. */
  set?: FileSet
}

/** What an origin holds now, and how to read it. */
interface OriginVersion {
  readonly version: string
  add(builder: FileSetBuilder): Promise<void>
}

/**
 * Starter files by their origin. The version of each is read for every launch, and its files when it has changed; launches that are
 * requested at the same time share one load, which is cancelled when the last of them is. What is anonymous is shared by those
 * who use it at the same time, and goes with the last of them.
 */
export class FileSources {
  readonly #options: Required<FileSourcesOptions>
  readonly #mutex = new KeyedMutex()
  #cleaned: Promise<void> | undefined
  readonly #loads = new Map<string, Load>()
  /** The last set of each origin that is not anonymous, by age of use. */
  readonly #sets = new Map<string, { readonly version: string; readonly set: FileSet }>()

  constructor(options: FileSourcesOptions) {
    this.#options = { limits: defaultLimits, timeout: defaultTimeout, ...options }
  }

  /**
   * The files of an origin; the caller releases them.
   * @param requestedAt of the launch, by `performance.now()`
   * @throws {StarterFilesError} with words for the operator; the signal's reason
   */
  async load(origin: FilesOrigin, requestedAt: number, signal: AbortSignal): Promise<FileSet> {
    signal.throwIfAborted()
    const key = JSON.stringify(origin)
    const last = this.#loads.get(key)
    const maxAge = 'git' in origin ? maxFetchAge : 0
    const load = last && last.begun >= requestedAt - maxAge ? last : this.#begin(key, origin)
    // At once: its last user may release it meanwhile.
    if (load.set) return load.set.retain()
    load.waiting++
    try {
      return (await withSignal(load.result, signal)).retain()
    } finally {
      if (--load.waiting === 0) await this.#leave(key, origin, load)
    }
  }

  /** When a load has no waiters any more. Its set has its users then, and without any it is kept for an operator's origin alone. */
  async #leave(key: string, origin: FilesOrigin, load: Load): Promise<void> {
    if (!load.isDone) this.#cancel(key, load)
    else if (isAnonymous(origin)) await load.set?.release()
  }

  /** Frees the disk of what was read. Loads that are under way go on. */
  async close(): Promise<void> {
    const sets = [...this.#sets.values()]
    this.#sets.clear()
    this.#loads.clear()
    await Promise.all(sets.map(({ set }) => set.release()))
  }

  #cancel(key: string, load: Load): void {
    if (this.#loads.get(key) === load) this.#loads.delete(key)
    load.controller.abort(new StarterFilesError('no launch waits for it any more'))
  }

  /** Loads of one origin do not overlap: a repository is written by one fetch at a time. */
  #begin(key: string, origin: FilesOrigin): Load {
    const controller = new AbortController()
    const limit = this.#options.timeout
    const timer = setTimeout(() => controller.abort(new StarterFilesError(`it took more than ${limit} ms`)), limit)
    const { promise: result, resolve } = Promise.withResolvers<FileSet>()
    const load: Load = { begun: Infinity, result, controller, waiting: 0, isDone: false }
    const work = () => {
      load.begun = performance.now()
      return this.#read(key, origin, controller.signal)
    }
    resolve(this.#mutex.run(key, work))
    this.#loads.set(key, load)
    const forget = () => {
      if (this.#loads.get(key) === load) this.#loads.delete(key)
    }
    const end = (set?: FileSet) => {
      clearTimeout(timer)
      load.isDone = true
      if (set) load.set = set
      // The next launch tries again.
      else forget()
      if (!set || !isAnonymous(origin)) return
      set.onFreed(forget)
      // It was cancelled too late to fail.
      if (load.waiting === 0) void this.#leave(key, origin, load)
    }
    result.then(end, () => end())
    return load
  }

  async #read(key: string, origin: FilesOrigin, signal: AbortSignal): Promise<FileSet> {
    try {
      signal.throwIfAborted()
      await mkdir(this.#options.folder, { recursive: true, mode: 0o700 })
      await (this.#cleaned ??= removeOldCopies(this.#options.folder))
      const { version, add } = await this.#versionOf(origin, signal)
      const known = this.#sets.get(key)
      const set = known?.version === version ? known.set : await this.#build(version, add)
      if (!isAnonymous(origin)) await this.#keep(key, version, set)
      return set
    } catch (error) {
      signal.throwIfAborted()
      throw new StarterFilesError(`${nameOf(origin)}: ${(error as Error).message}`, error)
    } finally {
      // Links name any number of repositories, those that are refused included.
      if (isAnonymous(origin)) await rm(this.#repositoryOf(origin), { recursive: true, force: true })
    }
  }

  async #build(version: string, add: OriginVersion['add']): Promise<FileSet> {
    const builder = await FileSetBuilder.create(path.join(this.#options.folder, randomUUID()), this.#options.limits)
    try {
      await add(builder)
      return builder.finish(version)
    } catch (error) {
      await builder.discard()
      throw error
    }
  }

  async #keep(key: string, version: string, set: FileSet): Promise<void> {
    const before = this.#sets.get(key)
    this.#sets.delete(key)
    this.#sets.set(key, { version, set })
    if (before && before.set !== set) await before.set.release()
    for (const [oldest, { set: unused }] of this.#sets) {
      if (this.#sets.size <= maxSets) break
      this.#sets.delete(oldest)
      this.#loads.delete(oldest)
      await unused.release()
    }
  }

  async #versionOf(origin: FilesOrigin, signal: AbortSignal): Promise<OriginVersion> {
    const { roots, limits } = this.#options
    if ('path' in origin) return folderVersion(await this.#allowed(origin.path), roots, limits, signal)
    if ('catalogue' in origin) {
      const folder = catalogueFiles(origin.catalogue)
      if (folder === undefined) throw new StarterFilesError('this release does not have it')
      return folderVersion(folder, [folder], limits, signal, addCatalogueFiles)
    }
    if ('archive' in origin) {
      const real = await this.#allowed(origin.archive)
      return { version: await versionOfArchive(real), add: (builder) => addArchive(builder, real, signal) }
    }
    const folder = this.#repositoryOf(origin)
    const repository = { url: origin.git, ref: origin.ref, folder }
    const options = { signal, maxBytes: limits.bytes, isAnonymous: origin.isAnonymous === true }
    const version = await fetchCommit(repository, options)
    return {
      version,
      add: (builder) => addCommit(builder, repository, version, { ...options, maxEntries: limits.entries }),
    }
  }

  #repositoryOf(origin: RepositoryOrigin): string {
    return path.join(this.#options.folder, `${hashOf(JSON.stringify(origin)).slice(0, 32)}.git`)
  }

  async #allowed(given: string): Promise<string> {
    const { roots } = this.#options
    const place = await answeringPaths.silentPlace(path.resolve(roots[0] ?? '/', given))
    if (place !== undefined) throw new StarterFilesError(`its file system at ${place} does not answer`)
    const silent = new Set<string>()
    for (const root of roots) if ((await answeringPaths.silentPlace(root)) !== undefined) silent.add(root)
    const found = allowedPath(given, roots, 'ALLOWED_MOUNT_ROOTS', silent)
    if ('problem' in found) throw new StarterFilesError(`it ${found.problem}`)
    return found.real
  }
}

type RepositoryOrigin = FilesOrigin & { readonly git: string }

const isAnonymous = (origin: FilesOrigin): origin is RepositoryOrigin => 'git' in origin && origin.isAnonymous === true

type AddFiles = typeof addCatalogueFiles

async function folderVersion(
  folder: string,
  roots: readonly string[],
  limits: SetLimits,
  signal: AbortSignal,
  add: AddFiles = addFolder,
): Promise<OriginVersion> {
  const found = await listFolder(folder, roots, limits, signal)
  const version = hashOf(found.map((each) => each.version).join('\n'))
  return { version, add: (builder) => add(builder, found, roots, signal) }
}

/** How an operator knows an origin. */
export function nameOf(origin: FilesOrigin): string {
  if ('path' in origin) return `the folder ${origin.path}`
  if ('catalogue' in origin) return `the files ${origin.catalogue} of the catalogue`
  return 'archive' in origin ? `the archive ${origin.archive}` : `the repository ${origin.git}`
}

/**
 * Copies and repositories that an earlier process left are removed; those of one that ends while this begins are younger: Git
 * puts a lock into the folder of a repository for each fetch. One that is still needed is fetched anew.
 */
async function removeOldCopies(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const file = path.join(folder, name)
    const stats = await stat(file).catch(() => undefined)
    const isOld = stats && Date.now() - stats.mtimeMs > maxCopyAge
    if (isOld && (stats.isFile() || name.endsWith('.git'))) await rm(file, { recursive: true, force: true })
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Timeout of one origin, in ms. */
const checkTimeout = 60_000

/**
 * Reads all starter files of templates, repositories included, and forgets them.
 * @param roots `ALLOWED_MOUNT_ROOTS` @returns what is wrong, each with its type and a sentence that begins with that
 */
export async function checkStarterFiles(
  templates: readonly Pick<Template, 'type' | 'files'>[],
  roots: readonly string[],
): Promise<TemplateProblem[]> {
  if (templates.every(({ files }) => files.length === 0)) return []
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-check-'))
  const sources = new FileSources({ folder, roots, timeout: checkTimeout })
  const problems: TemplateProblem[] = []
  try {
    for (const { type, files } of templates)
      for (const { from } of files) {
        const problem = await problemOf(sources, from)
        if (problem !== undefined) problems.push({ type, problem: `${type}: files: ${problem}` })
      }
  } finally {
    await sources.close()
    await rm(folder, { recursive: true, force: true })
  }
  return problems
}

async function problemOf(sources: FileSources, from: Template['files'][number]['from']): Promise<string | undefined> {
  try {
    const set = await sources.load(from, 0, new AbortController().signal)
    await set.release()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
