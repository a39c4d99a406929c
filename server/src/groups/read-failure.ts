import type { Actor } from '#/accounts/actor.ts'
import type { LaunchProgress } from '#/containers/launch/launch-progress.ts'
import { refusals } from '#/refusals/errors.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { findMembership } from '#/store/group-members.ts'
import { covers } from '#/templates/group-directory.ts'
import { requireManaged } from './group-rights.ts'

/** Why a start failed, as its owner's dashboard shows it. */
export interface StartFailure {
  readonly reason: LocalizedMessage
  readonly exitCode: number | null
  /** Last lines of the output of the program, oldest first. */
  readonly lastLines: readonly string[]
}

export interface ReadFailureParts {
  readonly database: Database
  readonly launchProgress: Pick<LaunchProgress, 'of'>
}

/** A member's container of a type of the group. */
export interface MemberContainerRef {
  readonly groupId: number
  readonly userId: number
  readonly type: string
}

/** What a manager reads of a failed start; output may have what its owner typed, so the audit log names who read it. */
export class ReadFailure {
  readonly #parts: ReadFailureParts

  constructor(parts: ReadFailureParts) {
    this.#parts = parts
  }

  /** @throws {Refusal} 404 no such group, member or failure, or a type that is not the group's · 403 */
  async run(actor: Actor, { groupId, userId, type }: MemberContainerRef, now: Date): Promise<StartFailure> {
    const { database, launchProgress } = this.#parts
    return database.transaction(async (tx) => {
      const group = await requireManaged(tx, actor, groupId)
      if (!(await findMembership(tx, groupId, userId))) throw refusals.groupNotFound('member')
      const stage = covers(group, type) ? launchProgress.of({ userId, type }) : undefined
      if (stage?.stage !== 'failed') throw refusals.groupNotFound('failure')
      const [target, detail] = [`group:${groupId}`, { user: userId, type }]
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.read-failure', target, detail }])
      return { reason: stage.message, exitCode: stage.exit_code, lastLines: stage.last_lines }
    })
  }
}
