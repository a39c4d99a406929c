import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { crashPoint } from '@berth/server/machine/crash-points.ts'
import { volumeMark } from '@berth/server/machine/restore-mark.ts'
import type { ArchivedHome, HomeArchive, HomeOutcome } from '@berth/server/engines/home-archive.ts'
import { RuntimeError } from '@berth/server/engines/runtime-error.ts'
import { sync } from '@berth/server/machine/disk-room.ts'

type Bytes = AsyncIterable<Uint8Array>

/**
 * Restores homes one after the other. While one is written, a file in the data folder names it: left by a process that was
 * killed, it tells a home in part from one that existed before, which no restore touches.
 */
export class HomeRestoration {
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
