import type { UserEvent } from '../events/user-events.ts'
import type { ContainerRef } from '../container-key.ts'

/** That nobody uses a container, so that it is about to be stopped. */
export interface IdleWarning {
  /** The use that it was quiet since; by `performance.now()`. */
  readonly lastUse: number
  /** When it will be stopped. */
  readonly at: Date
}

/**
 * Which containers are about to be stopped, for the open pages of their owners. Never more than one warning of each that
 * runs, and none of those that nobody was warned of.
 */
export class IdleWarnings {
  readonly #publish: (userId: number, event: UserEvent) => void
  /** By owner and type. */
  readonly #standing = new Map<number, Map<string, IdleWarning>>()

  constructor(publish: (userId: number, event: UserEvent) => void) {
    this.#publish = publish
  }

  /** Told once for each use that it was quiet since. */
  warn({ userId, type }: ContainerRef, warning: IdleWarning): void {
    const theirs = this.#standing.get(userId) ?? new Map<string, IdleWarning>()
    if (theirs.get(type)?.lastUse === warning.lastUse) return
    this.#standing.set(userId, theirs.set(type, warning))
    this.#publish(userId, eventOf(type, warning.at))
  }

  /** It stays: it was used again, or kept. Told when there was a warning. */
  end(owned: ContainerRef): void {
    if (this.forget(owned)) this.#publish(owned.userId, eventOf(owned.type, null))
  }

  /** It does not run any more, which is told otherwise. @returns whether there was a warning */
  forget({ userId, type }: ContainerRef): boolean {
    const theirs = this.#standing.get(userId)
    const wasStanding = theirs?.delete(type) ?? false
    if (theirs?.size === 0) this.#standing.delete(userId)
    return wasStanding
  }

  /** As events, for a page that comes in the middle. */
  current(userId: number): UserEvent[] {
    return [...(this.#standing.get(userId) ?? [])].map(([type, { at }]) => eventOf(type, at))
  }
}

const eventOf = (type: string, at: Date | null): UserEvent => ({
  name: 'idle',
  data: { type, action: 'stop', at: at?.toISOString() ?? null },
})
