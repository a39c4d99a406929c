/** Ends what a bench has begun, the last first: at `end`, or with the block that declares it (`await using`). */
export class BenchLifetime implements AsyncDisposable {
  readonly #endings: (() => unknown)[] = []

  /** @param ending called, and waited for, at the end */
  after(ending: () => unknown): void {
    this.#endings.unshift(ending)
  }

  async end(): Promise<void> {
    for (const ending of this.#endings.splice(0)) await ending()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end()
  }
}
