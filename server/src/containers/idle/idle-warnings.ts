import { isDeepStrictEqual } from 'node:util'
import type { UserEvent } from '#/containers/user-events.ts'
import type { ContainerRef } from '#/store/user-containers.ts'

/** An idle container that is about to be stopped. */
export interface IdleWarning {
  /** The last use before its idle time; by `performance.now()`. */
  readonly lastUse: number
  /** Time of the stop. */
  readonly at: Date
}

/** What stops a container whether it is used or not: its template, or the hours of a group. */
export type LimitSource = 'lifetime' | 'hours'

/** Why a container is about to be stopped: it is not used, and it is stopped at some time; each source ends its own warning. */
interface Standing extends Readonly<Partial<Record<LimitSource, Date | undefined>>> {
  readonly idle?: IdleWarning | undefined
}

/**
 * Containers that are about to be stopped, for the open pages of their owners. Each use is followed by one warning
 * at most; the end of a warning is published only if there was one. Of several reasons the earliest one is published.
 */
export class IdleWarnings {
  readonly #publish: (userId: number, event: UserEvent) => void
  /** By owner and type. */
  readonly #standing = new Map<number, Map<string, Standing>>()

  constructor(publish: (userId: number, event: UserEvent) => void) {
    this.#publish = publish
  }

  /** Warns that a container is idle. The warning is published once for each idle time. */
  warn(owned: ContainerRef, idle: IdleWarning): void {
    if (!this.hasWarned(owned, idle.lastUse)) this.#change(owned, { ...this.#of(owned), idle })
  }

  /** Whether the idle time that began with this use, by `performance.now()`, has its warning. */
  hasWarned(owned: ContainerRef, lastUse: number): boolean {
    return this.#of(owned)?.idle?.lastUse === lastUse
  }

  /** Withdraws the warning of a container that was used again, or kept. */
  end(owned: ContainerRef): void {
    const before = this.#of(owned)
    if (before?.idle) this.#change(owned, { ...before, idle: undefined })
  }

  /** Warns of a container that is stopped then, whether it is used or not. */
  warnOfLimit(owned: ContainerRef, source: LimitSource, at: Date): void {
    const before = this.#of(owned)
    const known = before?.[source]
    // The moment is computed anew by each check.
    if (known && Math.abs(known.getTime() - at.getTime()) < 1_000) return
    this.#change(owned, { ...before, [source]: at })
  }

  /** This source does not stop it then. */
  endOfLimit(owned: ContainerRef, source: LimitSource): void {
    const before = this.#of(owned)
    if (before?.[source]) this.#change(owned, { ...before, [source]: undefined })
  }

  /** Forgets a container that does not run any more, which other events report. */
  forget({ userId, type }: ContainerRef): void {
    const theirs = this.#standing.get(userId)
    theirs?.delete(type)
    if (theirs?.size === 0) this.#standing.delete(userId)
  }

  /** Present warnings as events, for a page that opens. */
  current(userId: number): UserEvent[] {
    return [...(this.#standing.get(userId) ?? [])].map(([type, standing]) => eventOf(type, standing))
  }

  #of({ userId, type }: ContainerRef): Standing | undefined {
    return this.#standing.get(userId)?.get(type)
  }

  /** Published where pages see a difference. */
  #change(owned: ContainerRef, next: Standing): void {
    const { userId, type } = owned
    const before = eventOf(type, this.#of(owned) ?? {})
    if (next.idle || limitOf(next)) {
      const theirs = this.#standing.get(userId) ?? new Map<string, Standing>()
      this.#standing.set(userId, theirs.set(type, next))
    } else this.forget(owned)
    const event = eventOf(type, next)
    if (!isDeepStrictEqual(before, event)) this.#publish(userId, event)
  }
}

/** The earlier one. */
function limitOf({ lifetime, hours }: Standing): Date | undefined {
  return lifetime && hours ? (lifetime < hours ? lifetime : hours) : (lifetime ?? hours)
}

function eventOf(type: string, standing: Standing): UserEvent {
  const { idle } = standing
  const limit = limitOf(standing)
  const isByLimit = limit !== undefined && (idle === undefined || limit <= idle.at)
  const at = (isByLimit ? limit : idle?.at)?.toISOString() ?? null
  return { name: 'idle', data: { type, action: 'stop', at, ...(isByLimit ? { reason: 'lifetime' as const } : {}) } }
}
