import type { Logger } from 'pino'
import { tryOrLog, withTimeout } from '#/concurrency/try-or-log.ts'
import { crashPoint } from '#/crash-points.ts'
import { refusals, type Refusal } from '#/errors.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  consumeLink,
  faultOfLink,
  findUsableLink,
  type LinkPurpose,
  type StoredLink,
} from '#/store/users/magic-links.ts'
import { insertSession } from '#/store/users/sessions.ts'
import { findUser, moveUserState, touchUser, type User } from '#/store/users/users.ts'
import type { AccessTokens, PlannedToken } from '../sessions/access-token.ts'
import { hashToken } from './magic-link.ts'
import type { ClientInfo } from '../sign-up/client-info.ts'
import type { Compensations } from './compensations.ts'

/** Timeout of a sign-in that waits for the container, in ms. */
const containerTimeout = 8_000

export interface SignedIn {
  readonly user: User
  readonly token: string
  /** Of the token. */
  readonly jti: string
}

/** A used link and the token that it is exchanged for. */
interface Exchange {
  readonly user: User
  readonly planned: PlannedToken
  readonly link: StoredLink
}

/** Effects of a sign-in. */
export interface SignInEffects {
  /** Publishes the user's state to the gateway. */
  publish(userId: number): Promise<void>
  /** Makes sure that the user's container of the first type runs. */
  startPrimary(user: User): Promise<unknown>
  /** Notes the time between the acceptance of the mail and the use of its link, in ms. */
  noteUse(ms: number): void
}

/** Exchanges a link for an access token: `GET /api/auth/verify-signup` and `/verify-login`. */
export class VerifyLink {
  readonly #database: Database
  readonly #tokens: AccessTokens
  readonly #compensations: Compensations
  readonly #effects: SignInEffects
  readonly #log: Logger

  constructor(
    database: Database,
    tokens: AccessTokens,
    compensations: Compensations,
    effects: SignInEffects,
    log: Logger,
  ) {
    this.#database = database
    this.#tokens = tokens
    this.#compensations = compensations
    this.#effects = effects
    this.#log = log
  }

  /**
   * Uses up a signup link; the user becomes verified. Source: specification, verify-signup.
   * @throws {Refusal} 400 not usable · 403 blocked, the link stays usable
   */
  async signUp(token: string, client: ClientInfo, now: Date): Promise<SignedIn> {
    const exchange = await this.#use(token, 'signup', client, now, async (tx, { id }) => {
      // A second signup link must not move an active user back.
      await moveUserState(tx, id, 'registered', 'verified')
    })
    return this.#signIn(exchange)
  }

  /**
   * Uses up a login link. Source: specification, verify-login: a refused link stays unused.
   * @throws {Refusal} 400 not usable · 403 blocked, or never verified
   */
  async logIn(token: string, client: ClientInfo, now: Date): Promise<SignedIn> {
    const exchange = await this.#use(token, 'login', client, now, async (tx, { id, state }) => {
      if (state === 'registered') throw refusals.notVerified()
      await touchUser(tx, id, now)
    })
    return this.#signIn(exchange)
  }

  /** The address of a usable link; the link is not used up, and the address must not be shown to its holder. */
  async addressOf(token: string, purpose: LinkPurpose, now: Date): Promise<string | undefined> {
    const { db } = this.#database
    const link = await findUsableLink(db, hashToken(token), purpose, now)
    return link && (await findUser(db, link.userId))?.email
  }

  /**
   * Checks and uses up in one transaction, so that a block is never missed and exactly one of concurrent calls
   * succeeds. The session is stored in it, too: every issued token is in its owner's list.
   */
  async #use(
    token: string,
    purpose: LinkPurpose,
    client: ClientInfo,
    now: Date,
    effect: (tx: Db, user: User) => Promise<void>,
  ): Promise<Exchange> {
    const planned = this.#tokens.plan(now)
    return this.#database.transaction(async (tx) => {
      const link = await findUsableLink(tx, hashToken(token), purpose, now)
      const user = link && (await findUser(tx, link.userId))
      if (!link || !user || this.#compensations.has(link.id)) throw await unusable(tx, token, purpose, now)
      if (user.isBlocked) throw refusals.userBlocked()
      await effect(tx, user)
      if (!(await consumeLink(tx, link.id, now))) throw await unusable(tx, token, purpose, now)
      const { jti, expiresAt } = planned
      await insertSession(tx, { userId: user.id, jti, createdAt: now, expiresAt, ...client, acting: null })
      return { user: (await findUser(tx, user.id)) ?? user, planned, link }
    })
  }

  /** The link is used up by now, so no later failure may withhold the token. */
  async #signIn({ user, planned, link: { acceptedAt } }: Exchange): Promise<SignedIn> {
    crashPoint('verify.after-consume')
    if (acceptedAt) this.#effects.noteUse(Date.now() - acceptedAt.getTime())
    const token = await this.#tokens.issue(user, planned)
    await tryOrLog(this.#log, `publishing user ${user.id}`, () => this.#effects.publish(user.id))
    await withTimeout(
      containerTimeout,
      tryOrLog(this.#log, `starting the first container of user ${user.id}`, () => this.#effects.startPrimary(user)),
    )
    crashPoint('verify.before-answer')
    return { user, token, jti: planned.jti }
  }
}

/** Why a link cannot be used, as far as it is still stored. */
async function unusable(db: Db, token: string, purpose: LinkPurpose, now: Date): Promise<Refusal> {
  const fault = await faultOfLink(db, hashToken(token), purpose, now)
  return fault === undefined ? refusals.badToken() : refusals[`${fault}Token`]()
}
