import { readFileSync, writeFileSync } from 'node:fs'
import { listedName } from '#/engines/container-spec.ts'

/** Max names that are kept; of more, the oldest are the operator's to remove. */
const maxNames = 1_000

/**
 * Images that the engine had not, before a pull through the broker: the only ones, beside those that were built for the
 * installation, that a client may remove. The API keeps such a list as well, but could be taken over.
 */
export class PulledImages {
  readonly #file: string
  readonly #names: Set<string>

  /** @param file that keeps the names, also after a restart @throws {Error} when it exists and cannot be read */
  constructor(file: string) {
    this.#file = file
    this.#names = new Set(namesIn(file).map(listedName))
  }

  /** @param image name with tag or digest */
  has(image: string): boolean {
    return this.#names.has(listedName(image))
  }

  note(image: string): void {
    this.#names.delete(listedName(image))
    this.#names.add(listedName(image))
    this.#write([...this.#names].slice(-maxNames))
  }

  forget(image: string): void {
    if (this.#names.delete(listedName(image))) this.#write([...this.#names])
  }

  #write(names: readonly string[]): void {
    this.#names.clear()
    for (const name of names) this.#names.add(name)
    writeFileSync(this.#file, names.map((each) => `${each}\n`).join(''), { mode: 0o600 })
  }
}

function namesIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((each) => each !== '')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
