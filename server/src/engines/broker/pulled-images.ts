import { readFileSync, writeFileSync } from 'node:fs'

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
    this.#names = new Set(namesIn(file))
  }

  /** @param image name with tag or digest */
  has(image: string): boolean {
    return this.#names.has(image)
  }

  note(image: string): void {
    this.#names.delete(image)
    this.#names.add(image)
    this.#write([...this.#names].slice(-maxNames))
  }

  forget(image: string): void {
    if (this.#names.delete(image)) this.#write([...this.#names])
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

/** The name of an image as it is kept: without a tag or digest the engine takes `latest`. */
export const withTag = (image: string): string => (/[:@][^/]+$/.test(image) ? image : `${image}:latest`)
