/** How many streams of a kind one person may have open: a page has one of each, and people have several pages. */
const mostOpen = { events: 20, logs: 5 } as const
export type StreamKind = keyof typeof mostOpen

/** Whose stream it is, and the token (`jti`) that it was opened with. */
export interface StreamOwner {
  readonly userId: number
  readonly jti: string
}

interface OpenStream extends StreamOwner {
  readonly kind: StreamKind
  readonly end: () => void
}

/** The answers that do not end by themselves, so that they end when their reader may not read on. */
export class OpenStreams {
  readonly #byUser = new Map<number, Set<OpenStream>>()
  #isClosed = false

  /**
   * @param end called at most once: signed out, blocked, or Berth stops; must not throw
   * @returns what takes it off the list, for when it ended otherwise; undefined when this person has too many of the kind
   */
  open(kind: StreamKind, { userId, jti }: StreamOwner, end: () => void): (() => void) | undefined {
    const theirs = this.#byUser.get(userId) ?? new Set()
    const count = [...theirs].filter((each) => each.kind === kind).length
    if (this.#isClosed || count >= mostOpen[kind]) return undefined
    const stream = { userId, jti, kind, end }
    this.#byUser.set(userId, theirs.add(stream))
    return () => this.#remove(stream)
  }

  /** Ends the streams of a person who is blocked or gone. */
  endUser(userId: number): void {
    this.#end(userId, () => true)
  }

  /** Ends the streams that were opened with a token that counts no more. */
  endToken(userId: number, revoked: string): void {
    this.#end(userId, ({ jti }) => jti === revoked)
  }

  /** Ends all; whoever may open another. */
  endAll(): void {
    for (const userId of this.#byUser.keys()) this.endUser(userId)
  }

  /** Ends all, and takes no more. */
  close(): void {
    this.#isClosed = true
    this.endAll()
  }

  #end(userId: number, isMeant: (stream: OpenStream) => boolean): void {
    for (const stream of [...(this.#byUser.get(userId) ?? [])].filter(isMeant)) {
      this.#remove(stream)
      stream.end()
    }
  }

  #remove(stream: OpenStream): void {
    const theirs = this.#byUser.get(stream.userId)
    theirs?.delete(stream)
    if (theirs?.size === 0) this.#byUser.delete(stream.userId)
  }
}
