import type { Actor } from '#/accounts/actor.ts'
import { administer, ownerId } from '#/accounts/guards.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import { pageOf } from '#/store/page.ts'
import { deleteShare, findShare, listShares, type ContainerShare } from '#/store/container-shares.ts'
import { shareEntry, termsOf } from './share-entry.ts'
import type { SharesParts } from './shares.ts'

/** A page of shares by id; `next` is the id after which the next page begins, null after the last page. */
export interface SharePage {
  readonly shares: readonly ContainerShare[]
  readonly next: number | null
}

/** The shares of all users, for administrators: seen, and ended. */
export class ShareAdministration {
  readonly #parts: Pick<SharesParts, 'database' | 'publish' | 'onEnd'>

  constructor(parts: Pick<SharesParts, 'database' | 'publish' | 'onEnd'>) {
    this.#parts = parts
  }

  /** @param owner id or e-mail address; undefined for all owners, an unknown one has none */
  async list(owner: string | undefined, page: { limit: number; after: number }, now: Date): Promise<SharePage> {
    const { db } = this.#parts.database
    const userId = owner === undefined ? undefined : await ownerId(db, owner)
    const found = await listShares(db, { ...page, limit: page.limit + 1 }, now, userId)
    const { rows, next } = pageOf(found, page.limit, ({ id }) => id)
    return { shares: rows, next }
  }

  /** Ends a share of any user; what is open by it is cut when this resolves. @throws {Refusal} 403 as `administer` · 404 */
  async end(actor: Actor, id: number, now: Date): Promise<void> {
    const { database, publish, onEnd } = this.#parts
    const ended = await administer(database, actor, async (tx) => {
      const share = await findShare(tx, id)
      if (!share) throw refusals.notFound('share')
      await deleteShare(tx, id)
      await insertAuditEntries(tx, [shareEntry('container.unshare', actor, termsOf(share), now)])
      return share
    })
    await publish(now)
    onEnd({ userId: ended.owner.id, type: ended.type })
  }
}
