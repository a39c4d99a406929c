import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import {
  deleteGroupInvitation,
  findGroupInvitationById,
  listGroupInvitations,
  type StoredInvitation,
} from '#/store/group-invitations.ts'
import { pageOf } from '#/store/page.ts'
import { refuseProviderGroup, requireManaged } from './group-rights.ts'
import type { InviteToGroup } from './invite-to-group.ts'

/** How long an invitation to a group waits for its address to sign up, in ms. */
export const invitationLifetime = 90 * 24 * 3_600_000

/** Invitations to a group that are not accepted yet. */
export class PendingInvitations {
  readonly #database: Database
  readonly #invite: InviteToGroup

  constructor(database: Database, invite: InviteToGroup) {
    this.#database = database
    this.#invite = invite
  }

  /** A page, oldest first; `next` is the id after which the next page begins. @throws {Refusal} 404 · 403 */
  async list(
    actor: Pick<Actor, 'id'>,
    groupId: number,
    { limit, after }: { readonly limit: number; readonly after: number },
  ): Promise<{ invitations: StoredInvitation[]; next: number | null }> {
    const { db } = this.#database
    await requireManaged(db, actor, groupId)
    const found = await listGroupInvitations(db, groupId, { limit: limit + 1, after })
    const { rows, next } = pageOf(found, limit, ({ id }) => id)
    return { invitations: rows, next }
  }

  /** The account that was made stays, without the group. @throws {Refusal} 404 no such group or invitation · 403 · 409 a provider's group */
  async withdraw(actor: Actor, groupId: number, id: number, now: Date): Promise<void> {
    await this.#database.transaction(async (tx) => {
      refuseProviderGroup(await requireManaged(tx, actor, groupId))
      const invitation = await findGroupInvitationById(tx, groupId, id)
      if (!invitation) throw refusals.groupNotFound('invitation')
      const { email, role } = invitation
      await deleteGroupInvitation(tx, groupId, email)
      const entry = { target: `group:${groupId}`, detail: { role }, personal: { email } }
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.withdraw-invitation', ...entry }])
    })
  }

  /**
   * Mails it again; it counts from now on, when the mail is accepted. @param report called with the cause when the mail failed
   * @throws {Refusal} 404 · 403 · 409 a provider's group · 500 the mail was not accepted, or the address had too many
   */
  async resend(
    actor: Actor,
    groupId: number,
    id: number,
    now: Date,
    report: (error: unknown) => void,
  ): Promise<string> {
    const group = await requireManaged(this.#database.db, actor, groupId)
    refuseProviderGroup(group)
    const invitation = await findGroupInvitationById(this.#database.db, groupId, id)
    if (!invitation) throw refusals.groupNotFound('invitation')
    const { email, role } = invitation
    const { invited } = await this.#invite.run(actor, group, { emails: [email], role }, now, report)
    if (invited.includes(email)) return email
    throw refusals.invitationNotMailed()
  }
}
