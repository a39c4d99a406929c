import type { Manifest, Part } from './backup-format.ts'

/** What a part is made of, before it is written. */
export interface PartContent extends Pick<Part, 'kind' | 'file' | 'home'> {
  readonly content: AsyncIterable<Uint8Array>
}

/** Where a backup goes. */
export interface BackupTarget {
  /**
   * Writes one part. @returns its description; @throws when it cannot: the part is then not in the backup; `DiskNearlyFull` for a
   * home without room, after which others may have theirs
   */
  add(part: PartContent, signal: AbortSignal): Promise<Part>
  /** Completes the backup: without this there is none. @returns its name for the operator */
  finish(manifest: Manifest): Promise<string>
  /** Removes what was written, after a failure. */
  discard(): Promise<void>
}
