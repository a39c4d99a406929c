import { RuntimeError } from '#/engines/runtime-error.ts'
import { pathIn } from '#/engines/tar/archive-rewrite.ts'
import { folderSizes, type FolderSizes } from '#/engines/tar/folder-sizes.ts'
import { refusals } from '#/refusals/errors.ts'
import type { HomeAccess, HomeOwner } from './home-access.ts'

/** How long a home is read, in ms. */
const timeLimit = 20_000
/** Bytes of an archive that come in a ms at most: what the fastest engines send. */
const maxBytesPerMs = 1024 ** 2

/** What takes room in homes, by folder: read by the engine, on its machine, when a user asks; nothing is kept of it. */
export class HomeFolders {
  readonly #access: HomeAccess

  constructor(access: HomeAccess) {
    this.#access = access
  }

  /**
   * Also while the container runs, until other work on it waits.
   * @param offset how many of the largest entries are left out @throws {Refusal} 400 · 404 no such folder · 409 · 429 · 500
   */
  async list(owner: HomeOwner, type: string, folder: string, offset = 0): Promise<FolderSizes> {
    const access = this.#access
    access.requireFiles(type)
    const path = pathIn(folder)
    return access.readYielding(owner, type, `folders ${offset} ${path}`, async (left) => {
      const end = performance.now() + timeLimit
      // What cannot come in time is not begun: an engine would read a terabyte of holes to the end of the time for nothing.
      const mayRead = (bytes: number) => bytes <= (end - performance.now()) * maxBytesPerMs
      const signal = AbortSignal.any([left, AbortSignal.timeout(timeLimit)])
      // What changes while it is read ends early, too.
      const isEnd = (error: unknown) => signal.aborted || (error instanceof RuntimeError && error.kind === 'failed')
      const archive = access.contents.read(await access.volumeOf(owner, type), signal)
      const found = await folderSizes(archive, { folder: path, offset, mayRead, isEnd })
      if (!found) throw refusals.notFound('path')
      return found
    })
  }
}
