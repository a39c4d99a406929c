/** Ends what a bench has begun, the last first: at `end`, or with the block that declares it (`await using`). */
export class BenchLifetime extends AsyncDisposableStack {
  /** @param ending called, and waited for, at the end */
  after(ending: () => unknown): void {
    this.defer(async () => void (await ending()))
  }

  end(): Promise<void> {
    return this.disposeAsync()
  }
}
