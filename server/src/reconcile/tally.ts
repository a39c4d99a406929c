import type { Action } from './plan.ts'

/** How often each kind of action was done since this process began. */
export class Tally {
  readonly #counts = new Map<Action['kind'], number>(
    (['adopt', 'stop', 'remove', 'forget', 'restore', 'note', 'retire'] as const).map((kind) => [kind, 0]),
  )

  count(kind: Action['kind'], times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times)
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
