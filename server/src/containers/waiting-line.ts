/**
 * Who waits, in order; the patient stand behind all others, however long they have waited. Adding and taking out cost the
 * same however many wait.
 */
export class WaitingLine<T> {
  readonly #first = new Set<T>()
  readonly #patient = new Set<T>()

  get size(): number {
    return this.#first.size + this.#patient.size
  }

  /** @returns the place it got, from 1 on */
  add(each: T, isPatient: boolean): number {
    const line = isPatient ? this.#patient : this.#first
    line.add(each)
    return isPatient ? this.size : line.size
  }

  /** One of the patient goes behind the last of the others; nothing when it is not one of them. */
  promote(each: T): void {
    if (this.#patient.delete(each)) this.#first.add(each)
  }

  remove(each: T): void {
    this.#first.delete(each)
    this.#patient.delete(each)
  }

  /** From the front on; whoever is taken out meanwhile is left out. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.#first
    yield* this.#patient
  }
}
