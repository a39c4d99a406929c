import type { Actor } from '#/accounts/actor.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'

export interface RotateKeysParts {
  readonly database: Database
  readonly key: SigningKeys
  /** Max lifetime of a token, in seconds. */
  readonly tokenLifetime: number
  /** Publishes the accepted keys to the gateway. */
  readonly publishKeys: () => Promise<void>
}

/** Time for which an old key is accepted beyond its tokens' lifetime, in ms: max difference of two clocks. */
const maxClockSkew = 60_000

/**
 * Key rotation: signs tokens with a new key without ending sessions, for an old key, or one that may have leaked. Until
 * the old key is dropped, tokens that are forged with it are accepted; only removing the key file, which ends every
 * session, prevents that.
 */
export class RotateKeys {
  readonly #parts: RotateKeysParts

  constructor(parts: RotateKeysParts) {
    this.#parts = parts
  }

  /**
   * The audit entry is stored first: store and file cannot change in one step, and an entry without a rotation does
   * less harm than the reverse. @throws {Refusal} 409 too many rotations in a row
   */
  async run(actor: Actor, now: Date): Promise<Pick<SigningKeys, 'kid' | 'retired'>> {
    const { key, tokenLifetime, publishKeys } = this.#parts
    const until = new Date(now.getTime() + tokenLifetime * 1_000 + maxClockSkew)
    await key.rotate(until, {
      onPlanned: ({ kid, before }) => this.#audit(actor, { kid, before, until }, now),
      onAccepted: () => publishKeys(),
    })
    return { kid: key.kid, retired: key.retired }
  }

  async #audit(actor: Actor, { kid, before, until }: { kid: string; before: string; until: Date }, at: Date) {
    const facts = { before: { kid: before }, after: { kid }, detail: { accepted_until: until } }
    await this.#parts.database.transaction((tx) =>
      insertAuditEntries(tx, [{ at, actor, action: 'keys.rotate', target: `key:${kid}`, ...facts }]),
    )
  }
}
