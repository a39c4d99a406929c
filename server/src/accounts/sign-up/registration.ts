import { KeyedMutex, MutexTimeout } from '#/machine/keyed-mutex.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { mailboxOf } from '#/store/magic-links.ts'
import {
  countOthersInCharge,
  deleteExpiredUnverifiedUser,
  deleteUnverifiedUser,
  hasUsers,
  insertUser,
  listExpiredUnverifiedUsers,
  releaseSlug,
  type UnverifiedCutoff,
  type User,
} from '#/store/users.ts'
import type { Compensations } from './compensations.ts'
import type { SignUpPolicy } from './email-address.ts'
import { linkLock } from './link-limits.ts'
import { takeSlug } from './slug.ts'

/** Min time for the registration after the wait for the taken slugs, in ms. */
const minTimeout = 1_000

export interface RegistrationSettings {
  readonly adminEmails: ReadonlySet<string>
  /** First path segments of Berth's own; no slug may look like one. */
  readonly reservedSlugs: ReadonlySet<string>
  /** Resolves when the slugs of existing containers and homes are known, or cannot be; never rejects. */
  readonly slugsKnown: Promise<unknown>
}

/** An account that is to be registered. */
export interface NewAccount<Stored extends { readonly user: User }> {
  readonly email: string
  readonly now: Date
  /** By `performance.now()`. */
  readonly deadline: number
  /** Stores it in one transaction; calls `addUser` once. */
  readonly store: (tx: Tx, addUser: () => Promise<User>) => Promise<Stored>
  /** Must succeed after the transaction for the account to stay; compensates by itself when it throws. */
  readonly deliver: (stored: Stored) => Promise<void>
}

/** Registers accounts, for sign-ups and invitations: serialized per address, and for the very first one. */
export class Registration {
  readonly #database: Database
  readonly #compensations: Compensations
  readonly #settings: RegistrationSettings
  readonly #mutex = new KeyedMutex()
  /** The registration of the first user, until its mail is accepted or has failed. */
  #first: Promise<unknown> | undefined

  constructor(database: Database, compensations: Compensations, settings: RegistrationSettings) {
    this.#database = database
    this.#compensations = compensations
    this.#settings = settings
  }

  /**
   * Keyed mutex by address: a failing first sign-up would otherwise delete the user of a second one's link.
   * @param timeout max wait for earlier work and for the first user's mail, in ms
   * @throws {Refusal} 500 after the timeout
   */
  async runExclusive<T>(email: string, timeout: number, work: (deadline: number) => Promise<T>): Promise<T> {
    const began = performance.now()
    // A known address waits as well: a shorter response time would reveal its account.
    await withTimeout(timeout, this.#settings.slugsKnown)
    const left = Math.max(minTimeout, timeout - (performance.now() - began))
    const deadline = performance.now() + left
    try {
      return await this.#mutex.runWithTimeout(email, left, async () => {
        // A pending compensation may concern this very address.
        await this.#compensations.retryPending()
        return work(deadline)
      })
    } catch (error) {
      throw error instanceof MutexTimeout ? refusals.mailFailed(error) : error
    }
  }

  /**
   * Call it within `runExclusive`. While there is no user, registrations wait for each other's mail: if the first one
   * failed after a second was stored as an ordinary user, the installation would have no administrator.
   * @throws {Refusal} 500 when the deadline is over · whatever `store` and `deliver` throw
   */
  async register<Stored extends { readonly user: User }>(account: NewAccount<Stored>): Promise<Stored> {
    // The first one reports its own failure.
    while (this.#first) await waitFor(this.#first, account.deadline)
    const isFirst = !(await hasUsers(this.#database.db))
    // Another one was first meanwhile; its user is stored, but may still be deleted.
    if (this.#first) return this.register(account)
    const registered = this.#storeAndDeliver(account)
    if (!isFirst) return registered
    const first = registered.finally(() => (this.#first = undefined))
    this.#first = first
    return first
  }

  async #storeAndDeliver<Stored extends { readonly user: User }>(account: NewAccount<Stored>): Promise<Stored> {
    const stored = await this.#database.transaction((tx) => account.store(tx, () => this.#addUser(tx, account)))
    await account.deliver(stored)
    return stored
  }

  async #addUser(tx: Tx, { email, now }: { email: string; now: Date }): Promise<User> {
    const isAdmin = (await this.#isFirst(tx)) || this.#settings.adminEmails.has(email)
    const slug = await takeSlug(tx, email, this.#settings.reservedSlugs)
    return insertUser(tx, { email, slug, isAdmin, now })
  }

  /**
   * Exactly one registration is the first: while there is no user it is decided under a lock of all registrations.
   * Later ones take no lock, or each would hold a connection while it waits for all others.
   */
  async #isFirst(tx: Tx): Promise<boolean> {
    if (await hasUsers(tx)) return false
    await this.#database.lock(tx, 'sign-up')
    return !(await hasUsers(tx))
  }
}

/**
 * Deletes a new account after its mail was not accepted; not if its link was used: then the mail has arrived all the
 * same. Nor if another link was requested meanwhile (resend-verification): that one may be in the mail.
 */
export async function deleteNewAccount(tx: Db, user: User): Promise<void> {
  if (await deleteUnverifiedUser(tx, user.id)) await releaseSlug(tx, user.slug)
}

/** @param deadline by `performance.now()` @throws {Refusal} 500 when it is over */
async function waitFor(first: Promise<unknown>, deadline: number): Promise<void> {
  const ended = first.then(
    () => true,
    () => true,
  )
  const timeout = Math.max(0, deadline - performance.now())
  if (!(await withTimeout(timeout, ended))) throw refusals.mailFailed(new MutexTimeout(timeout))
}

/** Max age of an unverified account, in ms. */
const maxUnverifiedAge = 24 * 3_600_000
/** Accounts that are deleted in one run; the others follow in the next. */
const maxDeleted = 200
/** How long one waits for whatever else goes on about its address, in ms. */
const mutexTimeout = 1_000

/**
 * Deletes accounts that were not verified within a day and that no link can verify any more, so that a mistyped
 * address, or a sign-up with another person's address, does not keep its slug for ever. Administrators stay, because no
 * other user can become the first one, and blocked accounts, because their owner could sign up again.
 */
export class UnverifiedAccounts {
  readonly #database: Database
  readonly #registration: Registration

  constructor(database: Database, registration: Registration) {
    this.#database = database
    this.#registration = registration
  }

  /**
   * @returns the number of deleted accounts; of very many some are left for the next call, as is one that signs up now
   */
  async deleteExpired(now: Date): Promise<number> {
    const before = new Date(now.getTime() - maxUnverifiedAge)
    const expired = await listExpiredUnverifiedUsers(this.#database.db, { before, now, limit: maxDeleted })
    let count = 0
    for (const { id, email } of expired) if (await this.#deleteExclusively(id, email, { before, now })) count++
    return count
  }

  async #deleteExclusively(id: number, email: string, expired: UnverifiedCutoff): Promise<boolean> {
    const work = () => this.#database.transaction((tx) => this.#delete(tx, id, email, expired))
    try {
      return await this.#registration.runExclusive(email, mutexTimeout, work)
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  /** Under the lock that a new link for the address takes: a concurrent request for a link keeps the account. */
  async #delete(tx: Tx, id: number, email: string, expired: UnverifiedCutoff): Promise<boolean> {
    await this.#database.lock(tx, linkLock(mailboxOf(email)))
    const slug = await deleteExpiredUnverifiedUser(tx, id, expired)
    if (slug !== undefined) await releaseSlug(tx, slug)
    return slug !== undefined
  }
}

/** No account has this id. */
const unusedId = 0

/**
 * Finds an installation without an administrator, and without a way to one: the configured address was mistyped, say,
 * or sign-up is closed. @returns a sentence with the way out; null when there is an administrator, or a way
 */
export async function missingAdministrator(db: Db, policy: SignUpPolicy): Promise<string | null> {
  if (await hasUsers(db)) {
    if ((await countOthersInCharge(db, unusedId)) > 0) return null
    return 'No administrator has verified their address. `berth users promote <email>` promotes a verified user.'
  }
  const isSignUpImpossible = policy.signUp === 'invited' && policy.adminEmails.size === 0
  return isSignUpImpossible ? 'Sign-up is closed. `berth users invite <email>` invites the first administrator.' : null
}
