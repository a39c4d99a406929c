import type { Foundation } from '#/containers/containers-parts.ts'
import { StreamRegistry, type StreamKind } from '#/containers/stream-registry.ts'
import { ClockJumpDetector } from '#/machine/clock-jump-detector.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { finishClockJump, latestInstant } from '#/store/clock-jumps.ts'
import { AccessTokens, ScopedTokenIssuer } from './access-token.ts'
import { SessionCookies, SessionLifetimes } from './begin-session.ts'
import { HostSignIn } from './host-sign-in.ts'
import { RenewSession } from './renew-session.ts'
import { Revocations, clockJumpHandler, type Revocable } from './revocations.ts'
import { SessionUses } from './session-list.ts'
import type { SigningKeys } from './signing-keys.ts'

export type { HostToken } from './host-sign-in.ts'
export type { RenewSession, RenewedToken } from './renew-session.ts'
export type { EndSessions, SessionUses } from './session-list.ts'

export interface SessionsParts extends Pick<Foundation, 'database' | 'gateway' | 'log'> {
  readonly config: {
    /** Seconds. */
    readonly accessTokenExpires: number
    readonly sessionIdle: number
    readonly sessionMax: number
  }
  readonly addresses: {
    readonly spawnerUrl: string
    /** Null when containers are below paths. */
    readonly containerOrigin: ((prefix: string) => string) | null
  }
  readonly key: SigningKeys
  /** Requests a run of the reconciler, when a revocation is not stored yet, or stored instants were moved. */
  readonly activate: () => void
  /** Fewer open streams of all users together, for tests. */
  readonly maxStreams?: Partial<Record<StreamKind, number>>
}

/** Access tokens, sessions and revocations. Containers need them, so they are opened before these, and accounts after. */
export class Sessions {
  readonly streams: StreamRegistry
  readonly revocations: Revocations
  readonly tokens: AccessTokens
  readonly lifetimes: SessionLifetimes
  readonly cookies: SessionCookies
  readonly uses: SessionUses
  readonly renewSession: RenewSession
  readonly hostSignIn: HostSignIn | null
  readonly scopedTokens: ScopedTokenIssuer
  readonly clock: ClockJumpDetector
  readonly #parts: SessionsParts

  constructor(parts: SessionsParts) {
    const { config, addresses, database, gateway, key, activate, maxStreams, log } = parts
    const { spawnerUrl, containerOrigin } = addresses
    this.#parts = parts
    this.streams = new StreamRegistry(maxStreams)
    const { streams } = this
    const publish = (revoked: readonly Revocable[]) =>
      gateway.apply(
        revoked.map(({ jti, expiresAt }) => ({
          kind: 'revoked' as const,
          revocation: { jti, expiresAt: expiresAt.getTime() },
        })),
      )
    this.revocations = new Revocations(database, {
      onRevoked: async (sessions) => {
        for (const { userId, jti } of sessions) streams.endSession(userId, jti)
        await publish(sessions)
      },
      onEraEnded: (era) => publish([era]),
      onUnsaved: activate,
    })
    const { revocations } = this
    this.tokens = new AccessTokens(key, spawnerUrl, config.accessTokenExpires, () => revocations.newId())
    this.lifetimes = new SessionLifetimes(config)
    this.cookies = new SessionCookies(key.hmacKeyFor('session'))
    this.uses = new SessionUses(database, this.lifetimes.limits)
    const { tokens, lifetimes, cookies, uses } = this
    this.renewSession = new RenewSession({ database, tokens, lifetimes, cookies, uses, revocations })
    const { renewSession } = this
    this.hostSignIn =
      containerOrigin && new HostSignIn({ database, tokens, revocations, renewSession, originOf: containerOrigin })
    this.scopedTokens = new ScopedTokenIssuer(database, tokens)
    const onJump = { database, revocations, endStreams: () => streams.endAll(), onMoved: activate }
    this.clock = new ClockJumpDetector(clockJumpHandler(onJump), log)
  }

  /** When the session of this claim `sid` ends, see `RenewSession.endOf`. */
  endOf(sid: string): Promise<Date> {
    return this.renewSession.endOf(sid, new Date())
  }

  /**
   * Looks for jumps of the clock. A crash may have interrupted the work on the last one, which is completed first: instants that
   * are moved only in part would look like another jump.
   */
  async startClock(): Promise<void> {
    const { database } = this.#parts
    await finishClockJump(database)
    await this.clock.start(await latestInstant(database.db))
  }

  /** Ends the streams of pages. */
  stop(): void {
    this.clock.stop()
    this.streams.close()
  }

  /** Writes what is in memory alone. */
  async close(): Promise<void> {
    await tryOrLog(this.#parts.log, 'writing when sessions were used last', () => this.uses.writeAll())
  }
}

/** Reads which sessions are revoked, before anything is served. @throws {StoreFailure} */
export async function openSessions(parts: SessionsParts): Promise<Sessions> {
  const sessions = new Sessions(parts)
  await sessions.revocations.load(new Date())
  return sessions
}
