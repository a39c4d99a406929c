import type { Claims } from './access-token.ts'
import type { Revocations } from './revocations.ts'

/** A takeover that ends before its time. */
interface EndedTakeover {
  readonly userId: number
  /** Who acted, as in `Claims`. */
  readonly acting: string
}

export interface EndSessionsParts {
  readonly revocations: Pick<Revocations, 'isOver' | 'revoke'>
  /** Writes the end of a takeover to the audit log. @param address of the client that ended it */
  readonly noteTakeoverEnd: (ended: EndedTakeover, address: string, now: Date) => Promise<void>
}

/** Ends sessions before their expiry, by the claims of their tokens. */
export class EndSessions {
  readonly #parts: EndSessionsParts

  constructor(parts: EndSessionsParts) {
    this.#parts = parts
  }

  /**
   * Revokes the tokens that are not over yet; each takeover among them is written to the audit log once. Sessions that
   * are over already are left alone.
   * @param address of the client
   * @throws when the store fails; tokens that were revoked before that stay revoked
   */
  async run(claims: readonly Claims[], address: string, now: Date): Promise<void> {
    const { revocations, noteTakeoverEnd } = this.#parts
    const ending = claims.filter((each) => !revocations.isOver(each, now))
    await revocations.revoke(ending, now)
    for (const { userId, acting } of ending)
      if (acting !== null) await noteTakeoverEnd({ userId, acting }, address, now)
  }
}
