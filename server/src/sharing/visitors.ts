import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { UserEvent } from '#/containers/user-events.ts'
import type { Visit } from '@berth/gateway/port/gateway.ts'

/** After so long without a sign of a visitor the visit is over, in ms: the gateway gives one every 5 s. */
const visitTimeout = 12_000
/** Between two looks for visits that are over, in ms. */
const sweepInterval = 2_000
/** Visitors that are shown of one container. */
const maxShown = 100

/** A visitor who has a shared container open now. */
export interface Visitor {
  readonly email: string
  readonly since: Date
}

export interface VisitorsParts {
  /** The container with this first path segment. */
  readonly containerAt: (prefix: string) => ContainerRef | undefined
  /** Address of a user's account. */
  readonly emailOf: (userId: number) => string | undefined
  /** Called with all visitors of the container when one has come or gone; must not throw. */
  readonly onChange: (userId: number, event: UserEvent) => void
}

interface Present {
  readonly since: number
  lastSeenAt: number
}

/**
 * Who has a shared container open now, as the gateway reports it. In memory; there is a timer only while there are
 * visitors.
 */
export class Visitors {
  readonly #parts: VisitorsParts
  readonly #byContainer = new Map<string, { readonly owned: ContainerRef; readonly present: Map<number, Present> }>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: VisitorsParts) {
    this.#parts = parts
  }

  /** Notes signs of visitors. */
  note(visits: readonly Visit[]): void {
    const changed = new Map<string, ContainerRef>()
    for (const { prefix, userId, at } of visits) {
      const owned = this.#parts.containerAt(prefix)
      if (owned && this.#noteOne(owned, userId, at)) changed.set(containerKey(owned), owned)
    }
    for (const owned of changed.values()) this.#publish(owned)
    if (this.#byContainer.size > 0) this.#timer ??= setInterval(() => this.#sweep(), sweepInterval).unref()
  }

  /** Visitors of a container, who came first first. */
  of(owned: ContainerRef): Visitor[] {
    const present = this.#byContainer.get(containerKey(owned))?.present ?? []
    return [...present].slice(0, maxShown).flatMap(([userId, { since }]) => {
      const email = this.#parts.emailOf(userId)
      return email === undefined ? [] : [{ email, since: new Date(since) }]
    })
  }

  /** Events that tell a new page of the owner's who is there. */
  current(userId: number): UserEvent[] {
    return [...this.#byContainer.values()]
      .filter(({ owned }) => owned.userId === userId)
      .map(({ owned }) => this.#event(owned))
  }

  /**
   * Forgets the visitors of a container, because a share has ended: those who may stay are reported again within
   * seconds.
   */
  forget(owned: ContainerRef): void {
    if (this.#byContainer.delete(containerKey(owned))) this.#publish(owned)
  }

  /** Ends the timer. */
  close(): void {
    clearInterval(this.#timer)
  }

  /** @returns whether the visitor has just come */
  #noteOne(owned: ContainerRef, userId: number, at: number): boolean {
    const key = containerKey(owned)
    const { present } = this.#byContainer.get(key) ?? { present: new Map<number, Present>() }
    const known = present.get(userId)
    if (known) known.lastSeenAt = performance.now()
    else present.set(userId, { since: at, lastSeenAt: performance.now() })
    this.#byContainer.set(key, { owned, present })
    return !known
  }

  #sweep(): void {
    const old = performance.now() - visitTimeout
    for (const [key, { owned, present }] of this.#byContainer) {
      const gone = [...present].filter(([, { lastSeenAt }]) => lastSeenAt < old)
      for (const [userId] of gone) present.delete(userId)
      if (present.size === 0) this.#byContainer.delete(key)
      if (gone.length > 0) this.#publish(owned)
    }
    if (this.#byContainer.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #publish(owned: ContainerRef): void {
    this.#parts.onChange(owned.userId, this.#event(owned))
  }

  #event(owned: ContainerRef): UserEvent {
    const visitors = this.of(owned).map(({ email, since }) => ({ email, since: since.toISOString() }))
    return { name: 'visitors', data: { type: owned.type, visitors } }
  }
}
