import { parseNewEmail } from '#/accounts/sign-up/email-address.ts'
import type { Actor } from '#/accounts/actor.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db } from '#/store/database.ts'
import { findGroupInvitation } from '#/store/group-invitations.ts'
import { findMembership } from '#/store/group-members.ts'
import { findUserByEmail } from '#/store/users.ts'
import { refuseProviderGroup, requireManaged } from './group-rights.ts'
import type { InviteToGroup } from './invite-to-group.ts'

/** What an addition of an address will do. */
export type AdditionEffect = 'join' | 'invite' | 'member' | 'invited' | 'invalid' | 'not_allowed'

export interface PreviewMembersParts {
  readonly database: Database
  readonly invite: Pick<InviteToGroup, 'allowed'>
}

/** Says before an addition what it will do with each address. What it tells of accounts is what the addition tells; it is audited. */
export class PreviewMembers {
  readonly #parts: PreviewMembersParts

  constructor(parts: PreviewMembersParts) {
    this.#parts = parts
  }

  /** In the order of the addresses. @throws {Refusal} 404 · 403 · 409 a provider's group */
  async run(
    actor: Actor,
    groupId: number,
    typed: readonly string[],
    now: Date,
  ): Promise<{ readonly email: string; readonly effect: AdditionEffect }[]> {
    const { database, invite } = this.#parts
    refuseProviderGroup(await requireManaged(database.db, actor, groupId))
    const isAllowed = await invite.allowed(actor)
    const found: { email: string; effect: AdditionEffect }[] = []
    for (const email of typed) found.push({ email, effect: await effectOf(database.db, groupId, email, isAllowed) })
    const [target, detail] = [`group:${groupId}`, { addresses: typed.length }]
    await database.transaction((tx) =>
      insertAuditEntries(tx, [{ at: now, actor, action: 'group.preview-members', target, detail }]),
    )
    return found
  }
}

async function effectOf(
  db: Db,
  groupId: number,
  typed: string,
  isAllowed: (email: string) => boolean,
): Promise<AdditionEffect> {
  const email = readAddress(typed)
  if (email === undefined) return 'invalid'
  const user = await findUserByEmail(db, email)
  if (user && (user.state !== 'registered' || user.isBlocked))
    return (await findMembership(db, groupId, user.id)) ? 'member' : 'join'
  if (!isAllowed(email)) return 'not_allowed'
  return (await findGroupInvitation(db, groupId, email)) ? 'invited' : 'invite'
}

function readAddress(typed: string): string | undefined {
  try {
    return parseNewEmail(typed)
  } catch {
    return undefined
  }
}
