import type { Owner } from './container-spec.ts'
import type { Home } from './runtime.ts'

/** A home as a backup keeps it. */
export interface ArchivedHome extends Home {
  /** Bytes that its volume is bound to; absent when it has no such limit. */
  readonly size?: number
  /** A volume that containers of several people have (`Runtime.ensureFolder`); then `owner` is `ownerOfFolders`. */
  readonly isFolder?: true
}

/** Whose a folder of several people is, where a home has its owner. */
export const ownerOfFolders: Owner = { userId: 0, slug: '', type: '' }

/**
 * Port to the contents of homes, for backup and restore. Containers may run and write meanwhile: a file that is being
 * written may be incomplete in the archive.
 */
export interface HomeArchive {
  /** Home volumes of this installation, and where the engine's folders of several people are read those, too. @throws {RuntimeError} */
  homes(): Promise<ArchivedHome[]>

  /**
   * A home as a tar archive, with owners, modes, times and links.
   * @throws {RuntimeError} at its end when it is not complete: `failed` after a file shrank while it was read, any kind
   *   after the engine was stopped meanwhile
   */
  read(volume: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Creates a home with the content of an archive, bound to its size where the engine can do so. After a failure the
   * home does not exist; after the death of the process it may exist in part.
   * @param archive begins to read it; called again where the engine needs it in another form
   * @throws {RuntimeError}
   */
  write(home: ArchivedHome, archive: () => AsyncIterable<Uint8Array>, options: HomeWriting): Promise<HomeOutcome>

  /**
   * Removes a home that a process which was killed has written in part. One that is gone, or in use, is left as it is.
   * @throws {RuntimeError}
   */
  removeUnfinished(volume: string): Promise<void>
}

export interface HomeWriting {
  readonly signal: AbortSignal
  /** Called when there is no volume of this name, before it is created; a failure of it is one of `write`. */
  readonly beforeCreate: () => Promise<void>
}

/**
 * - `created`
 * - `created-unbound`: without the size that it was bound to, which the engine cannot do.
 * - `exists`: there is a volume of this name, which is left as it is.
 */
export type HomeOutcome = 'created' | 'created-unbound' | 'exists'
