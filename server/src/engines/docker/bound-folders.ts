import { realpath, stat } from 'node:fs/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSignal } from '#/engines/transport/wait-limits.ts'

/** A folder of this machine that a container mounts, as it was when it was looked at. */
export interface BoundFolder {
  /** Without symbolic links. */
  readonly path: string
  readonly device: bigint
  readonly inode: bigint
}

/** How long the file systems may take to answer, in ms. */
const timeout = 5_000

/**
 * Folders of this machine by device and inode: the engine follows a path when it starts a container, and a program that
 * may write above it could have put a link in its place since it was checked.
 */
export class BoundFolders {
  /** One look at a time: each that hangs, as at NFS without its server, holds one of the few threads of libuv. */
  #last: Promise<unknown> = Promise.resolve()

  /**
   * @param paths without symbolic links, as they were checked @param what is being done, for the error
   * @throws {RuntimeError} `failed` when one leads elsewhere by now, is not there, or does not answer within 5 s
   */
  async look(paths: readonly string[], what: string): Promise<readonly BoundFolder[]> {
    if (paths.length === 0) return []
    const looked = this.#last.then(() => Promise.all(paths.map((each) => lookAt(each, what))))
    this.#last = looked.catch(() => undefined)
    const limit = AbortSignal.timeout(timeout)
    try {
      return await withSignal(looked, limit)
    } catch (error) {
      if (error instanceof RuntimeError) throw error
      throw new RuntimeError('failed', `${what}: the file system of its mounts does not answer`, error)
    }
  }

  /** Looks again. @throws {RuntimeError} as `look`, and `failed` when one is another folder than it was */
  async requireSame(folders: readonly BoundFolder[], what: string): Promise<void> {
    const paths = folders.map((each) => each.path)
    const found = await this.look(paths, what)
    const other = folders.find(({ device, inode }, at) => found[at]?.device !== device || found[at]?.inode !== inode)
    if (other)
      throw new RuntimeError(
        'failed',
        `${what}: its mount ${other.path} is another folder than the one that was checked`,
      )
  }
}

async function lookAt(file: string, what: string): Promise<BoundFolder> {
  try {
    const real = await realpath(file)
    if (real !== file) throw new RuntimeError('failed', `${what}: its mount ${file} leads to ${real} by now`)
    const { dev, ino } = await stat(file, { bigint: true })
    return { path: file, device: dev, inode: ino }
  } catch (error) {
    if (error instanceof RuntimeError) throw error
    throw new RuntimeError('failed', `${what}: its mount ${file} cannot be looked at`, error)
  }
}
