/** What is at a path in a container. */
export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  /** Bytes of a file. */
  readonly size: number
  /** Permission bits. */
  readonly mode: number
}

/** Account in a container. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Work on files of one home, from its begin on. */
export interface HomeAccess {
  /**
   * What was read and written since the work began was read from the home and written to it, whole. Until then nothing may be
   * decided by what was read, and nothing counts as written, whatever the engine has answered.
   * @throws {RuntimeError} `unreachable`: the engine was stopped meanwhile
   */
  requireWhole(what: string): Promise<void>
  /** Ends the connection. */
  leave(): void
}

/**
 * Port to the files of a container that was created and does not run, for starter files. An engine that lacks it serves
 * templates without them. Paths are absolute in the container, without `..`. An engine follows symbolic links in all parts of a
 * path but the last; callers look at each part first.
 */
export interface ContainerFiles {
  /** Begins work on files of a home. @param volume the home @throws {RuntimeError} */
  begin(volume: string): Promise<HomeAccess>

  /** Undefined when nothing is there. @throws {RuntimeError} */
  status(id: string, path: string, signal: AbortSignal): Promise<FileStatus | undefined>

  /** Target of a symbolic link, as it is written in it. @throws {RuntimeError} */
  linkTarget(id: string, path: string, signal: AbortSignal): Promise<string>

  /** Bytes of a file. @throws {RuntimeError} */
  read(id: string, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Account that the program runs as; of one that runs as root, the owner of the folder, which images that step down to another
   * account prepare for that. @throws {RuntimeError} `failed` when the image names an account that it does not have
   */
  accountFor(id: string, folder: string, signal: AbortSignal): Promise<Account>

  /**
   * Unpacks a tar archive in a folder, with owners and modes as they are in it. A file takes the place of a file or a link, never of
   * a folder. After a failure part of it may be there. @throws {RuntimeError} `full` without room
   */
  write(id: string, folder: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
}
