/** One thing that a person's open pages are told. */
export interface PersonalEvent {
  /** Name of the event; `endpoints.containerEvents` has its data. */
  readonly name: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Whoever listens; must not throw. */
export interface Listener {
  onEvent(event: PersonalEvent): void
  /** Nothing more will come: signed out, blocked, or Berth stops. */
  onEnd(): void
}

interface Subscription {
  readonly jti: string
  readonly listener: Listener
}

/** Streams of one person at the same time: a page has one, and people have several pages. */
const mostPerUser = 20

/** Brings what happens to somebody's containers to their open pages. Nothing is kept: a page that was not there reads the list. */
export class Events {
  readonly #byUser = new Map<number, Set<Subscription>>()
  #isClosed = false

  /** @param jti token of the listener @returns what ends it; undefined when this person has too many already */
  subscribe(userId: number, jti: string, listener: Listener): (() => void) | undefined {
    const subscriptions = this.#byUser.get(userId) ?? new Set()
    if (this.#isClosed || subscriptions.size >= mostPerUser) return undefined
    const subscription = { jti, listener }
    subscriptions.add(subscription)
    this.#byUser.set(userId, subscriptions)
    return () => this.#remove(userId, subscription)
  }

  tell(userId: number, event: PersonalEvent): void {
    for (const { listener } of this.#byUser.get(userId) ?? []) listener.onEvent(event)
  }

  /** Ends the streams of a person who is blocked or gone. */
  endUser(userId: number): void {
    this.#end(userId, () => true)
  }

  /** Ends the streams that were opened with a token that counts no more. */
  endToken(userId: number, revoked: string): void {
    this.#end(userId, ({ jti }) => jti === revoked)
  }

  /** Ends all, and takes no more. */
  close(): void {
    this.#isClosed = true
    for (const userId of this.#byUser.keys()) this.endUser(userId)
  }

  #end(userId: number, isMeant: (subscription: Subscription) => boolean): void {
    for (const subscription of [...(this.#byUser.get(userId) ?? [])].filter(isMeant)) {
      this.#remove(userId, subscription)
      subscription.listener.onEnd()
    }
  }

  #remove(userId: number, subscription: Subscription): void {
    const subscriptions = this.#byUser.get(userId)
    subscriptions?.delete(subscription)
    if (subscriptions?.size === 0) this.#byUser.delete(userId)
  }
}
