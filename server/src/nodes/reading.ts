import { elapsedSince, momentNow, type Moment } from '@berth/gateway/basics/clock.ts'
import type {
  ControlPlane,
  GatewayChange,
  GatewaySettings,
  ReaderSettings,
  Revocation,
  SessionUse,
} from '@berth/gateway/port/gateway.ts'
import { eraOf, revocationRetention } from '#/accounts/sessions/revocations.ts'
import { memberControl } from './gateway-group.ts'

/** Pause before what the reader keeps in memory is read again, in ms, when it could not be read. */
const retryAfter = 1_000
/** By how much the clock may move against the steady one, in ms; it was set otherwise, and the leader judges times. */
const maxClockStep = 60_000
/**
 * For how long answers go on when the lease in the database of this node is over, in ms: longer than another node takes
 * to lead, and this one to see that.
 */
const maxLeaseless = 2_000

/** Answers requests of the platform at a follower. */
export interface Reader {
  /** Paths that it answers. */
  readonly paths: readonly string[]
  /** Reads what it keeps in memory of the store. @throws when it cannot */
  refresh(): Promise<void>
  close(): Promise<void>
}

export interface ReadingParts {
  /** Names this program with its settings, as `ReadingTerms` does. */
  readonly program: () => string
  /** Unix socket of the reader. */
  readonly socket: string
  /** Starts the reader, which listens when it resolves. Called once. */
  readonly open: (state: ReadingState) => Promise<Reader>
  readonly report: (error: unknown, what: string) => void
}

/** What the reader asks at each request. */
export interface ReadingState {
  /** Whether an answer of this node is as good as the leader's. */
  readonly mayAnswer: boolean
  /** Containers whose owners are asked to restart them; null: it is not known of each. */
  readonly restartsAsked: ReadonlySet<string> | null
  /** Whether a token with this id, a session or its era is revoked. */
  has(jti: string): boolean
  /** @param at ms since 1970 */
  noteUse(sid: string, at: number): void
  noteAnswered(): void
  notePassedOn(): void
}

/**
 * What a follower may answer requests by: it has from the leader what the leader has in memory alone, before the leader
 * confirms a change, and it counts for as long as the leader waits for a node that it does not reach (`GatewayGroup`).
 * All else is in the store, which the reader asks at each request.
 */
export class Reading implements ReadingState {
  readonly #parts: ReadingParts
  readonly #revoked = new RevokedIds()
  readonly #uses = new UseReports()
  #reader: Promise<Reader> | undefined
  /** Counts calls of `serve`, of which the last one counts. */
  #terms = 0
  #isFit = false
  #isOver = false
  #maxAge = 0
  /** When the question was asked that the leader confirmed last. */
  #confirmedAt: Moment | undefined
  /** The lease of another node in the database of this one, as it was read last. */
  #lease: { readonly readAt: Moment; readonly endsIn: number } | undefined
  #clockOffset = 0
  #restartsAsked: ReadonlySet<string> | null = null
  #answered = 0
  #passedOn = 0

  constructor(parts: ReadingParts) {
    this.#parts = parts
  }

  get mayAnswer(): boolean {
    if (!this.#isFit || this.#isOver || !this.#confirmedAt) return false
    if (elapsedSince(this.#confirmedAt) > this.#maxAge || this.#isClockSet) return false
    return !this.#isOtherDatabase(this.#confirmedAt)
  }

  get restartsAsked(): ReadonlySet<string> | null {
    return this.#restartsAsked
  }

  has(jti: string): boolean {
    return this.#revoked.has(jti)
  }

  noteUse(sid: string, at: number): void {
    this.#uses.note(sid, at)
  }

  noteAnswered(): void {
    this.#answered++
  }

  notePassedOn(): void {
    this.#passedOn++
  }

  /**
   * Settings of the leader: what they say counts here when this resolves, or this node answers nothing. Never rejects.
   * @returns what the gateway of this node is told; undefined: all requests go to the leader
   */
  async serve(settings: GatewaySettings, control: ControlPlane): Promise<ReaderSettings | undefined> {
    const terms = ++this.#terms
    const { reading, maxStateAge = 0, sessionUseInterval } = settings
    this.#isFit = false
    if (this.#isOver || reading?.program !== this.#parts.program()) return undefined
    this.#maxAge = maxStateAge
    this.#clockOffset = clockOffset()
    this.#restartsAsked = reading.restartsAsked && new Set(reading.restartsAsked)
    this.#uses.use(control, sessionUseInterval)
    try {
      const { paths } = await this.#refresh(terms)
      return { socket: this.#parts.socket, paths }
    } catch (error) {
      this.#parts.report(error, 'reading at this node')
      this.#refreshSoon(terms)
      const reader = await this.#reader?.catch(() => undefined)
      return reader && { socket: this.#parts.socket, paths: reader.paths }
    }
  }

  /**
   * What a check of the lease in the database of this node has shown. A check that fails needs no call: the lease then
   * ends by itself.
   * @param isHeld whether another node has it
   * @param endsIn in ms, if it is not renewed; negative when it is over
   * @param readAt before
   */
  noteLease(isHeld: boolean, endsIn: number, readAt: Moment): void {
    if (isHeld) this.#lease = { readAt, endsIn }
    // It was over before, or was given up.
    else if (!this.#lease || this.#sinceLease(this.#lease) < 0) this.#lease = { readAt, endsIn: Math.min(endsIn, 0) }
  }

  replace(revoked: readonly Revocation[]): void {
    this.#revoked.replace(revoked)
  }

  apply(changes: readonly GatewayChange[]): void {
    for (const change of changes) if (change.kind === 'revoked') this.#revoked.add(change.revocation)
  }

  /**
   * The leader's control plane for the gateway of this node, whose questions whether its state counts hold here, too.
   */
  watch(control: ControlPlane): ControlPlane {
    return memberControl(control, async () => {
      const asked = momentNow()
      await control.confirmState()
      this.#confirmedAt = asked
    })
  }

  /** Counters of the requests that came here since the start of this process. */
  counts(): Readonly<Record<string, number>> {
    return { berth_reads_total: this.#answered, berth_reads_passed_on_total: this.#passedOn }
  }

  /** Nothing is answered here any more: this node leads. What still comes is passed on, to its own application. */
  stop(): void {
    this.#isOver = true
    this.#uses.stop()
  }

  async close(): Promise<void> {
    this.stop()
    await (await this.#reader?.catch(() => undefined))?.close()
  }

  async #refresh(terms: number): Promise<Reader> {
    this.#reader ??= this.#parts.open(this).catch((error: unknown) => {
      this.#reader = undefined
      throw error
    })
    const reader = await this.#reader
    await reader.refresh()
    if (terms === this.#terms) this.#isFit = true
    return reader
  }

  #refreshSoon(terms: number): void {
    const again = () => {
      if (terms !== this.#terms || this.#isOver) return
      this.#refresh(terms).catch(() => this.#refreshSoon(terms))
    }
    setTimeout(again, retryAfter).unref()
  }

  /**
   * Whether this node reads another database than the leader writes to, such as the primary of before a standby was
   * promoted: no lease is renewed in it. Then the leader goes on to confirm after its end here, or another one leads
   * there and none here. After the end of a leader the last confirmation is the older one, and a node takes the lease
   * soon: reads do not wait for that.
   */
  #isOtherDatabase({ steady }: Moment): boolean {
    if (!this.#lease) return false
    const { readAt, endsIn } = this.#lease
    return steady > readAt.steady + endsIn || this.#sinceLease(this.#lease) > maxLeaseless
  }

  /** Time since its end in ms; negative before. */
  #sinceLease({ readAt, endsIn }: { readonly readAt: Moment; readonly endsIn: number }): number {
    return elapsedSince(readAt) - endsIn
  }

  get #isClockSet(): boolean {
    return Math.abs(clockOffset() - this.#clockOffset) > maxClockStep
  }
}

const clockOffset = () => Date.now() - performance.now()

/** Additions between two searches for those that expired long ago. */
const pruneEvery = 10_000

/** Ids of revoked tokens, sessions and eras, as the leader has sent them. */
class RevokedIds {
  readonly #expiryById = new Map<string, number>()
  #added = 0

  has(jti: string): boolean {
    return this.#expiryById.has(jti) || this.#expiryById.has(eraOf(jti))
  }

  replace(all: readonly Revocation[]): void {
    this.#expiryById.clear()
    for (const { jti, expiresAt } of all) this.#expiryById.set(jti, expiresAt)
  }

  add({ jti, expiresAt }: Revocation): void {
    this.#expiryById.set(jti, expiresAt)
    if (++this.#added % pruneEvery === 0) this.#prune(Date.now() - revocationRetention)
  }

  #prune(before: number): void {
    for (const [jti, expiresAt] of this.#expiryById) if (expiresAt <= before) this.#expiryById.delete(jti)
  }
}

/** In ms: interval of reports, and the time between two reports of one session when the leader says no other. */
const [reportEvery, defaultInterval] = [1_000, 60_000]
/** Sessions of which it is known when they were reported; all are forgotten when there are more. */
const maxKnownUses = 50_000

/** Tells the leader which sessions were used here, as gateways do: each once a minute at most. */
class UseReports {
  readonly #reportedAt = new Map<string, number>()
  #control: Pick<ControlPlane, 'reportSessionUses'> | undefined
  #interval = defaultInterval
  #pending: SessionUse[] = []
  #timer: NodeJS.Timeout | undefined

  /** @param interval between two reports of one session, in ms */
  use(control: Pick<ControlPlane, 'reportSessionUses'>, interval = defaultInterval): void {
    this.#control = control
    this.#interval = interval
    // What was reported to an earlier leader may not have been written.
    this.#reportedAt.clear()
    this.#timer ??= setInterval(() => this.#report(), reportEvery).unref()
  }

  /** @param at ms since 1970 */
  note(sid: string, at: number): void {
    const before = this.#reportedAt.get(sid)
    if (before !== undefined && Math.abs(at - before) < this.#interval) return
    if (this.#reportedAt.size >= maxKnownUses) this.#reportedAt.clear()
    this.#reportedAt.set(sid, at)
    this.#pending.push({ sid, at })
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #report(): void {
    const uses = this.#pending
    if (uses.length === 0) return
    this.#pending = []
    this.#control?.reportSessionUses(uses)
  }
}
