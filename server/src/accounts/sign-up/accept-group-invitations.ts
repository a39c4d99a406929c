import type { AuditEntry } from '#/store/audit-log.ts'
import type { Tx } from '#/store/database.ts'
import { acceptGroupInvitations } from '#/store/group-invitations.ts'
import type { User } from '#/store/users.ts'

/**
 * Makes a user who has just proved the address a member of the groups that it was invited to.
 * @param origin of the request, for the audit log @returns audit entries, to be written last in the transaction
 */
export async function joinInvitingGroups(tx: Tx, user: User, origin: string, now: Date): Promise<AuditEntry[]> {
  const accepted = await acceptGroupInvitations(tx, user, now)
  return accepted.map(({ groupId, role, by }) => ({
    at: now,
    actor: { id: user.id, email: user.email, address: origin },
    action: 'group.join',
    target: `group:${groupId}`,
    detail: { user: user.id, role },
    personal: { invited_by: by },
  }))
}
