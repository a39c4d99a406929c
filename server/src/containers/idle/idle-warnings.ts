import type { UserEvent } from '../events/user-events.ts'
import type { ContainerRef } from '../container-key.ts'

/** An idle container that is about to be stopped. */
export interface IdleWarning {
  /** The last use before its idle time; by `performance.now()`. */
  readonly lastUse: number
  /** Time of the stop. */
  readonly at: Date
}

/**
 * Idle containers that are about to be stopped, for the open pages of their owners. Each use is followed by one warning
 * at most; the end of a warning is published only if there was one.
 */
export class IdleWarnings {
  readonly #publish: (userId: number, event: UserEvent) => void
  /** By owner and type. */
  readonly #standing = new Map<number, Map<string, IdleWarning>>()

  constructor(publish: (userId: number, event: UserEvent) => void) {
    this.#publish = publish
  }

  /** Published once for each idle time. */
  warn({ userId, type }: ContainerRef, warning: IdleWarning): void {
    const theirs = this.#standing.get(userId) ?? new Map<string, IdleWarning>()
    if (theirs.get(type)?.lastUse === warning.lastUse) return
    this.#standing.set(userId, theirs.set(type, warning))
    this.#publish(userId, eventOf(type, warning.at))
  }

  /** It was used again, or kept; published when there was a warning. */
  end(owned: ContainerRef): void {
    if (this.forget(owned)) this.#publish(owned.userId, eventOf(owned.type, null))
  }

  /** It does not run any more, which other events report. @returns whether there was a warning */
  forget({ userId, type }: ContainerRef): boolean {
    const theirs = this.#standing.get(userId)
    const wasStanding = theirs?.delete(type) ?? false
    if (theirs?.size === 0) this.#standing.delete(userId)
    return wasStanding
  }

  /** Present warnings as events, for a page that opens. */
  current(userId: number): UserEvent[] {
    return [...(this.#standing.get(userId) ?? [])].map(([type, { at }]) => eventOf(type, at))
  }
}

const eventOf = (type: string, at: Date | null): UserEvent => ({
  name: 'idle',
  data: { type, action: 'stop', at: at?.toISOString() ?? null },
})
