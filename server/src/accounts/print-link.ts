import { randomBytes } from 'node:crypto'
import { refusals } from '#/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { insertLink, type LinkPurpose } from '#/store/magic-links.ts'
import { findUserByEmail } from '#/store/users.ts'
import { normaliseEmail } from './email-address.ts'
import { hashToken } from './magic-link.ts'

export interface PrintLinkSettings {
  /** Seconds that a link can be used. */
  readonly expiry: number
  readonly frontendUrl: string
}

/** A link that goes to nobody but whoever asked for it. */
export interface LinkInHand {
  /** Never to be logged. */
  readonly link: string
  readonly purpose: LinkPurpose
  readonly expiresAt: Date
}

/**
 * Makes a link that is not mailed but handed to the operator, for the hour in which mail is broken. It takes no place in
 * the hour of its address, which is there to keep strangers from filling somebody's mailbox.
 */
export class PrintLink {
  readonly #database: Database
  readonly #settings: PrintLinkSettings

  constructor(database: Database, settings: PrintLinkSettings) {
    this.#database = database
    this.#settings = settings
  }

  /**
   * @returns a login link, or a signup link for who never verified their address
   * @throws {Refusal} 400 no address · 403 blocked · 404 nobody has it
   */
  async print(typed: string, actor: AuditEntry['actor'], now: Date): Promise<LinkInHand> {
    const email = normaliseEmail(typed)
    const token = randomBytes(32).toString('base64url')
    const expiresAt = new Date(now.getTime() + this.#settings.expiry * 1_000)
    const purpose = await this.#database.transaction(async (tx) => {
      const user = await findUserByEmail(tx, email)
      if (!user) throw refusals.notFound('user')
      if (user.isBlocked) throw refusals.userBlocked()
      const purpose = user.state === 'registered' ? 'signup' : 'login'
      const link = { userId: user.id, tokenHash: hashToken(token), purpose, ipAddress: '', now, expiresAt } as const
      await insertLink(tx, link)
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'link.print', target: `user:${user.id}`, detail: { purpose } },
      ])
      return purpose
    })
    return { link: `${this.#settings.frontendUrl}/verify-${purpose}?token=${token}`, purpose, expiresAt }
  }
}
