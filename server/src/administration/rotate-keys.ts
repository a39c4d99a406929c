import { insertAuditEntries } from '#/store/audit/audit-log.ts'
import type { Database } from '#/store/database.ts'
import type { Actor } from './actor.ts'

/** The keys that tokens are signed with, as far as a rotation is concerned. */
export interface KeyRing {
  readonly kid: string
  readonly retired: readonly { readonly kid: string; readonly until: Date }[]
  rotate(
    until: Date,
    steps: {
      onPlanned(planned: { readonly kid: string; readonly before: string }): Promise<void>
      onAccepted(): Promise<void>
    },
  ): Promise<void>
}

export interface RotationEffects {
  /** Longest time that a token lives, in seconds. */
  readonly tokenLifetime: number
  /** Tells the gateway which keys are accepted now. */
  publishKeys(): Promise<void>
}

/** For how much longer than its tokens an old key is accepted, in ms: two clocks may be apart so far. */
const maxClockSkew = 60_000

/**
 * Changes the key that tokens are signed with, without signing anybody out: for when the old one may have been seen by
 * somebody, or is old. Whoever has seen the old one can make tokens until it is dropped; against that helps only a key
 * file that is taken away, which signs everybody out.
 */
export class RotateKeys {
  readonly #database: Database
  readonly #keys: KeyRing
  readonly #effects: RotationEffects

  constructor(database: Database, keys: KeyRing, effects: RotationEffects) {
    this.#database = database
    this.#keys = keys
    this.#effects = effects
  }

  /**
   * The audit entry is stored first: store and file cannot change in one step, and of an entry without a rotation an
   * operator can make sense. @throws {Refusal} 409 too many rotations in a row
   */
  async run(actor: Actor, now: Date): Promise<Pick<KeyRing, 'kid' | 'retired'>> {
    const until = new Date(now.getTime() + this.#effects.tokenLifetime * 1_000 + maxClockSkew)
    await this.#keys.rotate(until, {
      onPlanned: ({ kid, before }) => this.#audit(actor, { kid, before, until }, now),
      onAccepted: () => this.#effects.publishKeys(),
    })
    return { kid: this.#keys.kid, retired: this.#keys.retired }
  }

  async #audit(actor: Actor, { kid, before, until }: { kid: string; before: string; until: Date }, at: Date) {
    const facts = { before: { kid: before }, after: { kid }, detail: { accepted_until: until } }
    await this.#database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'keys.rotate', target: `key:${kid}`, ...facts }]),
    )
  }
}
