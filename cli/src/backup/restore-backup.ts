import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { ArchivedHome, HomeArchive, HomeOutcome } from '@berth/server/engines/home-archive.ts'
import { RuntimeError } from '@berth/server/engines/runtime-error.ts'
import { crashPoint } from '@berth/server/machine/crash-points.ts'
import { sync } from '@berth/server/machine/disk-room.ts'
import { forgetPartlyRestored, partlyRestored, volumeMark } from '@berth/server/machine/data-folder.ts'
import { storeFileName } from '@berth/server/store/database.ts'
import { BackupProblem, encryptedEnd, verifyParts, type Manifest, type Part } from './backup-format.ts'
import { readSignedManifest, type BackupTrust } from './backup-signature.ts'
import { keysFileName } from './create-backup.ts'
import { checkStagedStore, installStore, requireNoStore, type StoreDestination } from './restore-store.ts'

type Bytes = AsyncIterable<Uint8Array>

export interface RestoreOptions extends StoreDestination {
  readonly backup: string
  readonly trust: BackupTrust
  /** Null without a secret key. */
  readonly decrypt: ((content: Bytes) => Bytes) | null
  /** Existing folder for what is unpacked. */
  readonly spool: string
  /** Opens the homes of an installation; null restores none. */
  readonly homesOf: ((installation: string) => Promise<HomeArchive>) | null
  readonly onProgress: (done: number, total: number) => void
  /** Called before the store is replaced: the homes may have taken hours. @throws when Berth runs */
  readonly requireStopped: () => Promise<void>
  readonly signal: AbortSignal
}

export interface Restored {
  readonly manifest: Manifest
  /** Where the store is that was there before; null when there was none. */
  readonly aside: string | null
  readonly homes: number
  /** Volumes that existed and were left as they are. */
  readonly keptHomes: readonly string[]
  /** Volumes that existed because an earlier restore, which was interrupted, had written a part of them. */
  readonly partialHomes: readonly string[]
  /** Homes that the engine refused to write, which do not exist now. */
  readonly missingHomes: Manifest['missing']
  /** Volumes without the size that they were bound to, because this engine cannot bind sizes. */
  readonly unboundHomes: readonly string[]
}

/**
 * Restores store, keys and homes. Everything is checked before anything is changed; homes come first, so that an
 * interrupted restore of many leaves the old store in use, and a second run goes on: homes that exist are left alone.
 * A home that the engine refuses, which its user may have caused, is left out and named.
 * @throws {BackupProblem} and changes nothing, when the backup is damaged or newer, is not of an author whom `trust` names, or there is a
 * store without `force`
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { backup, spool, trust, signal } = options
  const manifest = await readSignedManifest(backup, trust)
  await requireNoStore(options, manifest)
  await verifyParts(backup, manifest.parts, signal)
  await mkdir(path.join(spool, 'staged'), { mode: 0o700 })
  const staged = { folder: path.join(spool, 'staged') }
  await unpack(options, partOf(manifest, 'store'), path.join(staged.folder, storeFileName))
  await unpack(options, partOf(manifest, 'keys'), path.join(staged.folder, keysFileName))
  await checkStagedStore(staged, manifest)
  const restored = await restoreHomes(options, manifest)
  signal.throwIfAborted()
  await options.requireStopped()
  const aside = await installStore(staged, options, stampOf(new Date()))
  return { manifest, aside, ...restored }
}

const stampOf = (now: Date) => now.toISOString().replace(/[-:.]/g, '')

/** The part of a kind of which there is one. @throws {BackupProblem} */
function partOf({ parts }: Manifest, kind: 'store' | 'keys'): Part {
  const found = parts.find((part) => part.kind === kind)
  if (!found) throw new BackupProblem(`the backup has no ${kind}`)
  return found
}

/**
 * Content of a part, compared with its sum as it is read: its file may have been changed since `verifyParts`, hours ago.
 * @throws {BackupProblem} when it is encrypted and there is no key, or it is not and there is one; while it is read, for a wrong key, and
 * at the end, for other content
 */
export function contentOf({ backup, decrypt }: Pick<RestoreOptions, 'backup' | 'decrypt'>, part: Part): Bytes {
  const isEncrypted = part.file.endsWith(encryptedEnd)
  if (isEncrypted && !decrypt)
    throw new BackupProblem('the backup is encrypted: name the file of its secret key with --identity')
  if (!isEncrypted && decrypt)
    throw new BackupProblem(
      'the backup is not encrypted, and --identity was given: it may have been put in place of one that is. If it is yours, leave --identity out',
    )
  const content = createReadStream(path.join(backup, part.file))
  return compared(decrypt?.(content) ?? content, part)
}

async function* compared(content: Bytes, { file, contentSha256 }: Part): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const bytes of content) {
    hash.update(bytes)
    yield bytes
  }
  if (hash.digest('hex') !== contentSha256)
    throw new BackupProblem(`${file} in the backup is not what was put into it: it was changed`)
}

async function unpack(options: RestoreOptions, part: Part, file: string): Promise<void> {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true })
  await pipeline(contentOf(options, part), stream, { signal: options.signal })
}

/** So many homes that are refused, and none that is not, are a fault of the engine. */
const leastOfAll = 3

type RestoredHomes = Pick<Restored, 'homes' | 'keptHomes' | 'partialHomes' | 'missingHomes' | 'unboundHomes'>

async function restoreHomes(options: RestoreOptions, { installation, parts }: Manifest): Promise<RestoredHomes> {
  const { homesOf, onProgress, dataDir, signal } = options
  const [keptHomes, partialHomes, unboundHomes]: [string[], string[], string[]] = [[], [], []]
  const missingHomes: Manifest['missing'][number][] = []
  if (homesOf === null) return { homes: 0, keptHomes, partialHomes, missingHomes, unboundHomes }
  const restoration = new HomeRestoration(await homesOf(installation), dataDir)
  await restoration.removeUnfinished()
  const inPart = partlyRestored(dataDir)
  const saved = parts.flatMap((part) => (part.home ? [{ part, home: part.home }] : []))
  for (const [at, { part, home }] of saved.entries()) {
    onProgress(at, saved.length)
    const outcome = await restoration.run(home, () => contentOf(options, part), signal)
    if (typeof outcome === 'object') {
      missingHomes.push({ volume: home.volume, reason: outcome.refusal })
      continue
    }
    const isInPart = inPart.has(home.volume)
    if (outcome === 'exists') (isInPart ? partialHomes : keptHomes).push(home.volume)
    else if (isInPart) forgetPartlyRestored(dataDir, home.volume)
    if (outcome === 'created-unbound') unboundHomes.push(home.volume)
  }
  const homes = saved.length - keptHomes.length - partialHomes.length - missingHomes.length
  // The reason is the engine's then, such as a full disk, and not that of a home: the old store stays in use.
  if (missingHomes.length >= leastOfAll && missingHomes.length === saved.length)
    throw new BackupProblem(`the engine takes none of the ${saved.length} homes: ${missingHomes[0]?.reason}`)
  return { homes, keptHomes, partialHomes, missingHomes, unboundHomes }
}

/**
 * Restores homes one after the other. While one is written, a file in the data folder names it: left by a process that was
 * killed, it tells a home in part from one that existed before, which no restore touches.
 */
class HomeRestoration {
  readonly #archive: HomeArchive
  readonly #dataDir: string
  readonly #mark: string

  constructor(archive: HomeArchive, dataDir: string) {
    this.#archive = archive
    this.#dataDir = dataDir
    this.#mark = path.join(dataDir, volumeMark)
  }

  /** Removes what an interrupted restore has left. @throws {RuntimeError} then it stays for the next one */
  async removeUnfinished(): Promise<void> {
    if (!existsSync(this.#mark)) return
    const volume = await readFile(this.#mark, 'utf8')
    // Empty: killed before the volume was created.
    if (volume !== '') await this.#archive.removeUnfinished(volume)
    await rm(this.#mark)
  }

  /**
   * As `HomeArchive.write`; or why an engine that answers did not take this home, which does not exist then.
   * @throws {RuntimeError} when the engine cannot be reached, or a part of the home is still there, which stays named for the next
   * restore · the reason of the signal
   */
  async run(home: ArchivedHome, content: () => Bytes, signal: AbortSignal): Promise<HomeOutcome | { refusal: string }> {
    let isCreated = false
    const beforeCreate = async () => {
      isCreated = true
      await this.#setMark(home.volume)
    }
    try {
      const outcome = await this.#archive.write(home, () => withCrashPoint(content()), { signal, beforeCreate })
      await rm(this.#mark, { force: true })
      return outcome
    } catch (error) {
      // Without an engine the mark stays, and the next restore does it.
      const isRemoved = await this.removeUnfinished().then(
        () => true,
        () => false,
      )
      signal.throwIfAborted()
      if (!(error instanceof RuntimeError) || !isRemoved) throw error
      const isLeft = await this.#exists(home.volume)
      // The engine may leave a volume that a container still uses, such as a helper that it has not removed yet. One that this restore
      // has not created is its user's, and is never removed.
      if (isLeft && isCreated) await this.#setMark(home.volume)
      if (isLeft !== false) throw error
      return { refusal: inWords(error) }
    }
  }

  /** Asks the engine anew: one that took too long for a home counts as unreachable in that call alone. @returns undefined: no answer */
  async #exists(volume: string): Promise<boolean | undefined> {
    const homes = await this.#archive.homes().catch(() => undefined)
    return homes?.some((each) => each.volume === volume)
  }

  async #setMark(volume: string): Promise<void> {
    await writeFile(this.#mark, volume, { mode: 0o600, flush: true })
    await sync(this.#dataDir)
  }
}

const inWords = ({ message, cause }: Error) => (cause instanceof Error ? `${message}: ${cause.message}` : message)

async function* withCrashPoint(content: Bytes): AsyncGenerator<Uint8Array> {
  for await (const bytes of content) {
    yield bytes
    crashPoint('restore.in-home')
  }
}

/**
 * The home of a user in a backup.
 * @param slug of the user @param type of the container @throws {BackupProblem} that names those that are there
 */
export function homePartOf({ parts }: Manifest, slug: string, type: string | null): Part {
  const homes = parts.filter(({ home }) => home?.owner.slug === slug)
  const types = homes.map(({ home }) => home?.owner.type).join(', ')
  const [found, another] = homes.filter(({ home }) => type === null || home?.owner.type === type)
  if (found && !another) return found
  if (homes.length === 0) throw new BackupProblem(`the backup has no home of ${slug}`)
  throw new BackupProblem(`the backup has homes of ${slug} of these types, name one with --type: ${types}`)
}

/**
 * Unpacks a home into a new folder beside everything else, with the machine's `tar`, which does not follow links out of
 * it. Owners are kept when the process is root's; otherwise all files belong to the account of the process. The folder
 * itself is of that account alone: files in it may be readable by all, or setuid. It has another name until it is complete.
 * @throws {BackupProblem} when the folder exists or cannot be written
 */
export async function extractHome(
  content: AsyncIterable<Uint8Array>,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  if (existsSync(folder)) throw new BackupProblem(`${folder} exists; nothing was changed`)
  const partial = `${folder}.partial-${process.pid}`
  await mkdir(partial, { recursive: true, mode: 0o700 })
  try {
    // The archive sets mode and owner of the folder that it is unpacked into; the one around it keeps its own.
    const home = path.join(partial, 'home')
    await mkdir(home, { mode: 0o700 })
    await runTar(content, home, signal)
    await chown(home, process.getuid?.() ?? -1, process.getgid?.() ?? -1)
    await chmod(home, 0o700)
    await rename(home, folder)
    await sync(path.dirname(folder))
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function runTar(content: AsyncIterable<Uint8Array>, folder: string, signal: AbortSignal): Promise<void> {
  const owner = process.getuid?.() === 0 ? '--same-owner' : '--no-same-owner'
  const options = ['--extract', '--file=-', '--numeric-owner', owner, `--directory=${folder}`]
  const tar = spawn('tar', options, { stdio: ['pipe', 'ignore', 'pipe'], signal })
  let words = ''
  tar.stderr.setEncoding('utf8').on('data', (text: string) => (words = (words + text).slice(-2_000)))
  const ended = once(tar, 'exit') as Promise<[number | null]>
  // What tar does not take is its error to report.
  const fed = pipeline(content, tar.stdin).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  })
  const [[code]] = await Promise.all([ended, fed])
  if (code !== 0) throw new BackupProblem(`tar could not unpack the home: ${words.trim() || `exit code ${code}`}`)
}
