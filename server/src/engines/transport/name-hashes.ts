import { hash, randomBytes } from 'node:crypto'

/** Places for a begin; there are always twice as many as names, at least. */
const firstSize = 1_024
/** Bytes of a hash that count: a number of JavaScript holds them exactly. */
const hashBytes = 6

/**
 * Names of an archive, in 16 to 32 bytes each: a set of the names themselves would take hundreds of megabytes for an archive
 * with a million. By 48 bits of a hash with a seed of its own, so that names which count as one cannot be looked for; by chance
 * a name counts as one of a million others once in 280 million times.
 */
export class NameHashes {
  readonly #seed = randomBytes(16).toString('hex')
  /** Open addressing; 0 is a free place. */
  #places = new Float64Array(firstSize)
  #count = 0

  has(name: string): boolean {
    const value = this.#hashOf(name)
    return this.#places[this.#placeOf(value)] === value
  }

  add(name: string): void {
    const value = this.#hashOf(name)
    const place = this.#placeOf(value)
    if (this.#places[place] === value) return
    this.#places[place] = value
    if (++this.#count * 2 > this.#places.length) this.#grow()
  }

  #grow(): void {
    const values = this.#places
    this.#places = new Float64Array(values.length * 2)
    for (const value of values) if (value !== 0) this.#places[this.#placeOf(value)] = value
  }

  /** Where a hash is, or where it belongs. */
  #placeOf(value: number): number {
    let at = value % this.#places.length
    while (this.#places[at] !== 0 && this.#places[at] !== value) at = (at + 1) % this.#places.length
    return at
  }

  #hashOf(name: string): number {
    return hash('sha256', this.#seed + name, 'buffer').readUIntBE(0, hashBytes) + 1
  }
}
