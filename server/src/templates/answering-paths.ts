import { realpath } from 'node:fs/promises'
import pLimit from 'p-limit'
import { withTimeout } from '#/machine/try-or-log.ts'

/** How long a file system may take to answer, in ms. */
const defaultTimeout = 5_000

/**
 * Asks whether the file systems of paths answer, before something looks at them synchronously: one that hangs, as NFS without its
 * server, would stop the whole process. It asks one path at a time, because each that hangs holds one of the few threads of libuv.
 */
export class AnsweringPaths {
  readonly #timeout: number
  readonly #ask: (file: string) => Promise<unknown>
  readonly #limit = pLimit(1)
  #isHanging = false

  /** @param timeout ms @param ask for tests */
  constructor(timeout: number = defaultTimeout, ask: (file: string) => Promise<unknown> = realpath) {
    this.#timeout = timeout
    this.#ask = ask
  }

  /** @returns false when one does not answer in time, and at once while an earlier one has not; a missing path is an answer */
  async answer(paths: readonly string[]): Promise<boolean> {
    if (this.#isHanging) return false
    let isLate = false
    const asked = this.#limit(async () => {
      for (const file of paths) if (!isLate) await this.#ask(file).catch(() => undefined)
      return true
    })
    if (await withTimeout(this.#timeout, asked)) return true
    isLate = true
    this.#isHanging = true
    void asked.then(() => (this.#isHanging = false))
    return false
  }
}
