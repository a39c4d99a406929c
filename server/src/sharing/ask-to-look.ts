import type { Actor } from '#/accounts/actor.ts'
import type { Templates } from '#/templates/template.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import type { SharingSettings } from './sharing-settings.ts'
import type { LookRequests } from './look-requests.ts'
import { requireLook, type LookTarget } from './look-rights.ts'

export interface AskToLookParts {
  readonly database: Database
  readonly templates: Pick<Templates, 'get' | 'types'>
  readonly settings: Pick<SharingSettings, 'isOn'>
  readonly requests: LookRequests
}

/** A manager asks a member of a group to let them look at a container; nothing is opened before the member agrees. */
export class AskToLook {
  readonly #parts: AskToLookParts

  constructor(parts: AskToLookParts) {
    this.#parts = parts
  }

  /**
   * Shows the request on the open pages of the member, until it is answered or its time is over. @returns the member's address
   * @throws {Refusal} 403 sharing is switched off, or as `requireLook` · 400, 404, 409 as `requireLook` · 429 declined, or
   *   asked too often
   */
  async run(actor: Actor & { readonly id: number }, target: Omit<LookTarget, 'managerId'>, now: Date): Promise<string> {
    const { database, templates, settings, requests } = this.#parts
    if (!settings.isOn) throw refusals.sharingOff()
    const { groupId, userId, type } = target
    const { group, email: member } = await requireLook(database.db, templates, { ...target, managerId: actor.id }, now)
    const { id, email } = actor
    // It is on the member's pages, and in the audit log, already.
    if (requests.openOf(id, { userId, type })) return member
    const request = requests.add({
      manager: { id, email },
      group: { id: groupId, name: group.name },
      owned: { userId, type },
    })
    try {
      const detail = { user: userId, type }
      await database.transaction((tx) =>
        insertAuditEntries(tx, [{ at: now, actor, action: 'group.ask-to-look', target: `group:${groupId}`, detail }]),
      )
    } catch (error) {
      requests.remove(request)
      throw error
    }
    requests.show(request)
    return member
  }
}
