import type { Caller } from '#/tokens/token-verifier.ts'
import type { ControlPlane, GatewaySettings, SessionUse } from '#/port/gateway.ts'
import { clock } from '#/basics/clock.ts'

/** Between two reports of one session's use, in ms, unless the settings name less. */
const usualUseInterval = 60_000
/** For how long the cookies of a renewal are given to further requests with the old token, in ms. */
const renewalRetention = 30_000
/** How long a request waits for a renewal, in ms; without an answer it goes on with the token that it has. */
const renewalTimeout = 2_000
/** For how long a connection may stay open while the control plane does not say whether its session lasts, in ms. */
const maxUnanswered = 300_000
/** Between two questions about one session that was not answered, and two renewals of which the first failed, in ms. */
const retryInterval = 1_000
/** Sessions without a connection are forgotten when nothing was known of them for so long, in ms. */
const retention = 600_000

type SessionSettings = Pick<GatewaySettings, 'sessionEpoch' | 'sessionUseInterval'>

interface Tracked {
  /** By `clock.now`. */
  touchedAt: number
  usedAt: number
  /** Until when the control plane says that the session lasts, ms since 1970; 0: it is over. Undefined: not asked yet. */
  until: number | undefined
  /** Since when it was not answered, and when it was asked last; by `clock.now`. */
  unansweredSince: number | undefined
  askedAt: number
  isAsking: boolean
  /** By audience of the token: of the platform's host, and of hosts of containers, each has one of its own. */
  readonly renewals: Map<string | null, Renewal>
}

interface Renewal {
  /** The token that was renewed: with the next one it is time for another renewal. */
  readonly jti: string
  readonly host: string
  readonly at: number
  /** `Set-Cookie` lines; empty when nothing was renewed. */
  readonly lines: Promise<readonly string[]>
  /** No lines, when requests have waited long enough; lines that come later are given to later requests. */
  readonly deadline: Promise<readonly string[]>
  /** As while the control plane is restarted. */
  hasFailed: boolean
}

/**
 * Sessions of the callers, as far as the gateway has to know: what is open lives as long as its session, which the control
 * plane is asked for when the token has expired; requests by cookie renew the token; uses are reported in batches.
 */
export class SessionTracker {
  readonly #sessions = new Map<string, Tracked>()
  #uses: SessionUse[] = []
  /** Of the settings: see `GatewaySettings`. */
  #epoch: string | null = null
  #useInterval = usualUseInterval

  /** With another epoch than before, what is known of sessions does not count. */
  configure({ sessionEpoch, sessionUseInterval = usualUseInterval }: SessionSettings): void {
    if (sessionEpoch !== this.#epoch) this.#sessions.clear()
    this.#epoch = sessionEpoch
    this.#useInterval = sessionUseInterval
  }

  /** Notes a request, or bytes that the user sends on a WebSocket. Cheap: called for every message. */
  noteUse({ sid, isRenewable }: Caller): void {
    if (!isRenewable || this.#epoch === null) return
    const session = this.#of(sid)
    if (clock.now - session.usedAt < this.#useInterval) return
    session.usedAt = clock.now
    this.#uses.push({ sid, at: clock.wall })
  }

  /** Uses since the last call. */
  takeUses(): readonly SessionUse[] {
    const uses = this.#uses
    this.#uses = []
    return uses
  }

  /** Whether a token is in the second half of its life, and belongs to a session that is renewed. */
  isDue({ isRenewable, issuedAt, expiresAt }: Caller): boolean {
    return isRenewable && this.#epoch !== null && 2 * clock.wall > issuedAt + expiresAt
  }

  /**
   * `Set-Cookie` lines that renew the caller's token. One call at a time and session; the lines are given to further
   * requests of the same host for a while. Never rejects; empty when nothing is renewed.
   */
  renew(control: ControlPlane, { sid, jti, userId, audience }: Caller, host: string): Promise<readonly string[]> {
    const session = this.#of(sid)
    const known = session.renewals.get(audience)
    if (known && known.jti === jti && known.host === host && !isOver(known)) return timely(known)
    const prefix = audience === null ? null : audience.slice(1)
    const answer = control.renewSession(sid, userId, host, prefix)
    const renewal = beginRenewal({ jti, host, at: clock.now }, answer)
    session.renewals.set(audience, renewal)
    return timely(renewal)
  }

  /**
   * Whether something whose token has expired may stay open. While the answer is awaited it may, for a limited time.
   * @param control undefined before there is any
   */
  isOpen(control: ControlPlane | undefined, { sid, isRenewable }: Caller): boolean {
    if (!isRenewable || this.#epoch === null) return false
    const session = this.#of(sid)
    if (session.until !== undefined && session.until > clock.wall) return true
    if (session.until === 0) return false
    session.unansweredSince ??= clock.now
    if (clock.now - session.unansweredSince > maxUnanswered) return false
    if (control && !session.isAsking && clock.now - session.askedAt >= retryInterval)
      void this.#ask(control, sid, session)
    return true
  }

  /** Forgets sessions that have nothing open. @param open `sid` of those that have */
  prune(open: ReadonlySet<string>): void {
    for (const [sid, { touchedAt }] of this.#sessions)
      if (!open.has(sid) && clock.now - touchedAt > retention) this.#sessions.delete(sid)
  }

  async #ask(control: ControlPlane, sid: string, session: Tracked): Promise<void> {
    session.isAsking = true
    session.askedAt = clock.now
    try {
      const until = await control.sessionEnd(sid)
      session.until = until > clock.wall ? until : 0
      session.unansweredSince = undefined
    } catch {
      // Asked again by the next sweep.
    } finally {
      session.isAsking = false
    }
  }

  #of(sid: string): Tracked {
    const known = this.#sessions.get(sid)
    if (known) {
      known.touchedAt = clock.now
      return known
    }
    const session: Tracked = {
      touchedAt: clock.now,
      usedAt: -Infinity,
      until: undefined,
      unansweredSince: undefined,
      askedAt: -retryInterval,
      isAsking: false,
      renewals: new Map(),
    }
    this.#sessions.set(sid, session)
    return session
  }
}

const isOver = ({ at, hasFailed }: Renewal) => clock.now - at >= (hasFailed ? retryInterval : renewalRetention)

/** A control plane that is away, slow or fails costs requests nothing but a moment. */
const timely = ({ lines, deadline }: Renewal) => Promise.race([lines, deadline])

function beginRenewal(of: Pick<Renewal, 'jti' | 'host' | 'at'>, answer: Promise<readonly string[]>): Renewal {
  const { promise: deadline, resolve } = Promise.withResolvers<readonly string[]>()
  const timer = setTimeout(resolve, renewalTimeout, [])
  const lines = answer
    .catch(() => {
      renewal.hasFailed = true
      return []
    })
    .finally(() => clearTimeout(timer))
  const renewal: Renewal = { ...of, lines, deadline, hasFailed: false }
  return renewal
}
