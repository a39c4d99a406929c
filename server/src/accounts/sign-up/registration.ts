import { withTimeout } from '#/concurrency/try-or-log.ts'
import { refusals } from '#/errors.ts'
import { KeyedMutex, MutexTimeout } from '#/concurrency/keyed-mutex.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { deleteUnverifiedUser, hasUsers, insertUser, releaseSlug, type User } from '#/store/users/users.ts'
import { takeSlug } from './slug.ts'
import type { Compensations } from '../links/compensations.ts'

/** What is left for a turn after the wait for the taken slugs, in ms. */
const minTurn = 1_000

export interface RegistrationSettings {
  readonly adminEmails: ReadonlySet<string>
  /** First parts of the paths that are ours; no slug may look like one. */
  readonly reservedSlugs: ReadonlySet<string>
  /** Resolves once it is known which slugs stand on what the engine has, or that it cannot be known; never rejects. */
  readonly slugsKnown: Promise<unknown>
}

/** Somebody who is about to have an account. */
export interface NewAccount<Stored extends { readonly user: User }> {
  readonly email: string
  readonly now: Date
  /** By `performance.now()`. */
  readonly deadline: number
  /** What is stored, in one transaction; it calls `addUser` once. */
  readonly store: (tx: Tx, addUser: () => Promise<User>) => Promise<Stored>
  /** What has to work, once that is stored, for the account to stay; it takes everything back itself when it throws. */
  readonly deliver: (stored: Stored) => Promise<void>
}

/** Makes accounts, whether people sign up or are invited: one address and the very first one by one. */
export class Registration {
  readonly #database: Database
  readonly #compensations: Compensations
  readonly #settings: RegistrationSettings
  readonly #mutex = new KeyedMutex()
  /** The registration that found nobody registered, until its mail is accepted or has failed. */
  #first: Promise<unknown> | undefined

  constructor(database: Database, compensations: Compensations, settings: RegistrationSettings) {
    this.#database = database
    this.#compensations = compensations
    this.#settings = settings
  }

  /**
   * Work on one address at a time: a failing first sign-up would otherwise delete the user under a second one's link.
   * @param timeout ms that the work may wait, for its turn and for the first one's mail
   * @throws {Refusal} 500 when its turn does not come
   */
  async runExclusive<T>(email: string, timeout: number, work: (deadline: number) => Promise<T>): Promise<T> {
    const began = performance.now()
    // An address with an account waits as well: any other answer would tell that it has one.
    await withTimeout(timeout, this.#settings.slugsKnown)
    const left = Math.max(minTurn, timeout - (performance.now() - began))
    const deadline = performance.now() + left
    try {
      return await this.#mutex.runWithTimeout(email, left, async () => {
        // What is still to be taken back may be this very address.
        await this.#compensations.retryPending()
        return work(deadline)
      })
    } catch (error) {
      throw error instanceof MutexTimeout ? refusals.mailFailed(error) : error
    }
  }

  /**
   * Call it in the address's turn. While nobody is registered, registrations wait for each other's mail: if the first one
   * fails after a second was stored as an ordinary user, the installation would have no administrator.
   * @throws {Refusal} 500 when the deadline is over · whatever `store` and `deliver` throw
   */
  async register<Stored extends { readonly user: User }>(account: NewAccount<Stored>): Promise<Stored> {
    // Whether it failed is the first one's business.
    while (this.#first) await waitFor(this.#first, account.deadline)
    const isFirst = !(await hasUsers(this.#database.db))
    // Somebody was quicker while the store was asked; their user is stored, but may be taken back.
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
   * Exactly one registration is the first: while there is no user it is decided under a lock of all registrations. Later
   * ones take no lock, or each would hold a connection while it waits for all others.
   */
  async #isFirst(tx: Tx): Promise<boolean> {
    if (await hasUsers(tx)) return false
    await this.#database.lock(tx, 'sign-up')
    return !(await hasUsers(tx))
  }
}

/**
 * Takes a new account back; not from whoever has used its link: then the mail has arrived, whatever its server said. Nor
 * when another link was asked for meanwhile (resend-verification): that one may be in the mail.
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
