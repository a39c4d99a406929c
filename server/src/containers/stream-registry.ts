import { refusals } from '#/refusals/errors.ts'

/** Max open streams of each kind per user: a page has one of each, and a user has several pages. */
export const maxPerUser = { events: 20, logs: 5, groups: 5, downloads: 3, ssh: 10 } as const
/**
 * Max open streams of each kind of all users. A followed log occupies a connection to the engine, an event stream about
 * 20 KB of this process's memory, and each event is compared with the members of all open pages of groups.
 */
const maxInTotal = { events: 5_000, logs: 500, groups: 500, downloads: 50, ssh: 1_000 }
export type StreamKind = keyof typeof maxInTotal

/** Whose stream it is, and the session that opened it. */
export interface StreamOwner {
  readonly userId: number
  readonly sid: string
}

interface OpenStream extends StreamOwner {
  readonly kind: StreamKind
  readonly end: () => void
}

/** Open event and log streams, downloads and sessions of SSH, so that revocation, blocks and shutdown end them. */
export class StreamRegistry {
  readonly #maxInTotal: Readonly<Record<StreamKind, number>>
  readonly #byUser = new Map<number, Set<OpenStream>>()
  readonly #open: Record<StreamKind, number> = { events: 0, logs: 0, groups: 0, downloads: 0, ssh: 0 }
  #isClosed = false

  /** @param fewer of all users, for tests */
  constructor(fewer: Partial<Record<StreamKind, number>> = {}) {
    this.#maxInTotal = { ...maxInTotal, ...fewer }
  }

  /**
   * @param end called at most once: signed out, blocked, or Berth stops; must not throw
   * @returns removes the stream, for one that ended otherwise; further calls do nothing
   * @throws {Refusal} 429 when the user has too many of the kind · 503 when all users together have
   */
  open(kind: StreamKind, { userId, sid }: StreamOwner, end: () => void): () => void {
    const theirs = this.#byUser.get(userId) ?? new Set()
    const count = [...theirs].filter((each) => each.kind === kind).length
    if (count >= maxPerUser[kind]) throw refusals.tooManyStreams()
    if (this.#isClosed || this.#open[kind] >= this.#maxInTotal[kind]) throw refusals.streamsFull()
    const stream = { userId, sid, kind, end }
    this.#byUser.set(userId, theirs.add(stream))
    this.#open[kind]++
    return () => this.#remove(stream)
  }

  /** Ends the streams of a user who was blocked or deleted. */
  endUser(userId: number): void {
    this.#end(userId, () => true)
  }

  /** Ends the streams of a session that is over. */
  endSession(userId: number, over: string): void {
    this.#end(userId, ({ sid }) => sid === over)
  }

  /** Ends all; new ones may be opened. */
  endAll(): void {
    for (const userId of this.#byUser.keys()) this.endUser(userId)
  }

  /** Ends all; further ones are refused. */
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
    if (theirs?.delete(stream)) this.#open[stream.kind]--
    if (theirs?.size === 0) this.#byUser.delete(stream.userId)
  }
}
