import { readFileSync, writeFileSync } from 'node:fs'
import { Refused } from './refused.ts'

/** Names that Berth gives installations; a comma or a quote would change the meaning of a filter. */
const validName = /^[a-zA-Z0-9][\w.-]{0,62}$/

/**
 * The one installation that a broker serves: the first that asks, from then on and after a restart (trust on first use). So
 * an API that was taken over cannot reach the containers of another installation.
 */
export class InstallationLock {
  readonly #file: string
  #name: string | undefined

  /** @param file that keeps the name @throws {Error} when it exists and cannot be read */
  constructor(file: string) {
    this.#file = file
    try {
      this.#name = readFileSync(file, 'utf8').trim() || undefined
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }

  /** Undefined before the first request that names one. */
  get name(): string | undefined {
    return this.#name
  }

  /** @throws {Refused} when it is not the installation of this broker */
  require(name: string | undefined): void {
    if (name === undefined || !validName.test(name)) throw new Refused('it names no installation of Berth')
    if (this.#name === undefined) {
      writeFileSync(this.#file, `${name}\n`, { mode: 0o600 })
      this.#name = name
    }
    if (name !== this.#name)
      throw new Refused(`it is for the installation ${name}, and this broker serves ${this.#name} alone`)
  }
}
