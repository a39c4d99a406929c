import { withTimeout } from '#/machine/try-or-log.ts'
import { refusals } from '#/refusals/errors.ts'
import { KeyedMutex, MutexTimeout } from '#/machine/keyed-mutex.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { deleteUnverifiedUser } from '#/store/unverified-users.ts'
import { hasUsers, insertUser, releaseSlug, type User } from '#/store/users.ts'
import { takeSlug } from './slug.ts'
import type { Compensations } from './compensations.ts'

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
