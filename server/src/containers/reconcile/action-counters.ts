import type { Action } from './plan.ts'

/** Counters of reconciler actions by kind, since this process began. */
export class ActionCounters {
  readonly #counts = new Map<Action['kind'], number>(
    (['adopt', 'stop', 'remove', 'forget', 'restore', 'note', 'retire'] as const).map((kind) => [kind, 0]),
  )

  add(kind: Action['kind'], times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times)
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
