import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { forgetPartlyRestored, partlyRestored } from '@berth/server/machine/restore-mark.ts'
import type { HomeArchive } from '@berth/server/engines/home-archive.ts'
import { storeFileName } from '@berth/server/store/database.ts'
import { BackupProblem, readManifest, verifyParts, type Manifest, type Part } from './backup-format.ts'
import { keysFileName } from './create-backup.ts'
import { encryptedEnd } from './part-encryption.ts'
import { HomeRestoration } from './restore-home.ts'
import { checkStagedStore, installStore, requireNoStore, type StoreDestination } from './restore-store.ts'

type Bytes = AsyncIterable<Uint8Array>

export interface RestoreOptions extends StoreDestination {
  /** Folder of the backup. */
  readonly backup: string
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
 * @throws {BackupProblem} and changes nothing, when the backup is damaged or newer, or there is a store without `force`
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { backup, spool, signal } = options
  const manifest = await readManifest(backup)
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

/** Content of a part. @throws {BackupProblem} when it is encrypted and there is no key, or, while it is read, a wrong one */
export function contentOf({ backup, decrypt }: Pick<RestoreOptions, 'backup' | 'decrypt'>, { file }: Part): Bytes {
  const content = createReadStream(path.join(backup, file))
  if (!file.endsWith(encryptedEnd)) return content
  if (!decrypt) throw new BackupProblem('the backup is encrypted: name the file of its secret key with --identity')
  return decrypt(content)
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
