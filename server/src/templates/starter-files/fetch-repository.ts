import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { git, gitText, type GitOptions } from './git-command.ts'
import { addTar } from './read-tar.ts'
import type { FileSetBuilder } from './file-set.ts'
import { StarterFilesError } from './starter-files-error.ts'

/** Fetches that are kept beside each other before the repository is made anew; each brings a pack of its own. */
const maxPacks = 20
const ref = 'refs/berth/files'
/**
 * `archive` would leave out, or change, what the attributes of a repository name, or give it to a filter that is configured on the
 * machine: that of Git LFS would ask a server for each file. Source: gitattributes(5).
 */
const attributes = '* -export-ignore -export-subst -filter -text !eol -ident !working-tree-encoding\n'

export interface Repository {
  readonly url: string
  /** Branch, tag or commit. */
  readonly ref: string | null
  /** Folder of this repository alone; it may be missing, and is removed after a failure. */
  readonly folder: string
}

/**
 * Fetches one commit, without history and submodules; nothing is checked out, and nothing of it runs.
 * @returns the commit @throws as `git`
 */
export async function fetchCommit({ url, ref: wanted, folder }: Repository, options: GitOptions): Promise<string> {
  try {
    if (await hasManyPacks(folder)) await rm(folder, { recursive: true, force: true })
    if (!existsSync(path.join(folder, 'HEAD'))) await initialize(folder, options)
    // Also into a folder that an earlier version has made.
    await mkdir(path.join(folder, 'info'), { recursive: true })
    await writeFile(path.join(folder, 'info/attributes'), attributes)
    const settings = ['gc.auto=0', 'maintenance.auto=false', 'fetch.unpackLimit=1', 'pack.threads=2'].flatMap((one) => [
      '-c',
      one,
    ])
    const how = ['--quiet', '--force', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
    const what = ['--', url, `+${wanted ?? 'HEAD'}:${ref}`]
    await gitText(['-C', folder, ...settings, 'fetch', ...how, ...what], options)
    return await gitText(['-C', folder, 'rev-parse', '--verify', `${ref}^{commit}`], options)
  } catch (error) {
    // What was killed leaves locks.
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function initialize(folder: string, options: GitOptions): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await gitText(['init', '--quiet', '--bare', '--template=', folder], options)
}

async function hasManyPacks(folder: string): Promise<boolean> {
  const names = await readdir(path.join(folder, 'objects/pack')).catch(() => [])
  return names.filter((name) => name.endsWith('.pack')).length > maxPacks
}

/**
 * Adds the files of a commit that was fetched.
 * @param maxEntries of the commit: more are refused before they are read
 * @throws as `git` and `addTar`
 */
export async function addCommit(
  builder: FileSetBuilder,
  { folder }: Repository,
  commit: string,
  { maxEntries, ...options }: GitOptions & { readonly maxEntries: number },
): Promise<void> {
  await refuseManyEntries(folder, commit, maxEntries, options)
  const archive = git(['-C', folder, '-c', 'tar.umask=0022', 'archive', '--format=tar', commit], options)
  await addTar(builder, archive, options.signal)
}

/**
 * `archive` has the whole tree in memory before its first byte, and a few kilobytes of trees that contain each other many
 * times stand for any number of entries. `ls-tree` writes each entry as it comes to it.
 */
async function refuseManyEntries(
  folder: string,
  commit: string,
  maxEntries: number,
  options: GitOptions,
): Promise<void> {
  let entries = 0
  for await (const bytes of git(['-C', folder, 'ls-tree', '-r', '-t', '-z', '--name-only', commit], options)) {
    for (const byte of bytes) if (byte === 0) entries++
    if (entries > maxEntries) throw new StarterFilesError(`it has more than ${maxEntries} entries`)
  }
}
