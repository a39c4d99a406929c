import { realpath, stat } from 'node:fs/promises'
import { FolderUnusable, RuntimeError } from '#/engines/runtime-error.ts'
import { fileReason, mountAgain } from '#/machine/allowed-paths.ts'
import { SilentFileSystem, answeringPaths, type AnsweringPaths } from '#/machine/answering-paths.ts'

/** A folder of this machine that a container mounts, as it was when it was looked at. */
export interface BoundFolder {
  /** Without symbolic links. */
  readonly path: string
  readonly device: bigint
  readonly inode: bigint
}

/**
 * Folders of this machine by device and inode: the engine follows a path when it starts a container, and a program that
 * may write above it could have put a link in its place since it was checked.
 */
export class BoundFolders {
  readonly #answering: Pick<AnsweringPaths, 'ask'>

  /** @param answering for tests */
  constructor(answering: Pick<AnsweringPaths, 'ask'> = answeringPaths) {
    this.#answering = answering
  }

  /**
   * @param paths without symbolic links, as they were checked @param what is being done, for the error
   * @throws {RuntimeError} `failed` when one leads elsewhere by now, is not there, or does not answer within 5 s
   */
  async look(paths: readonly string[], what: string): Promise<readonly BoundFolder[]> {
    const found: BoundFolder[] = []
    for (const each of paths) found.push(await this.#look(each, what))
    return found
  }

  async #look(file: string, what: string): Promise<BoundFolder> {
    try {
      return await this.#answering.ask(file, () => lookAt(file, what))
    } catch (error) {
      if (!(error instanceof SilentFileSystem)) throw error
      throw new FolderUnusable('silent', `${what}: its mount ${file}: ${error.message}`, error)
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
    const why = fileReason(error) === 'ESTALE' ? ', because its handle is stale: ' + mountAgain : ''
    throw new FolderUnusable('missing', `${what}: its mount ${file} cannot be looked at${why}`, error)
  }
}
