import type { Language } from '@berth/api/boot.ts'
import type { MemberState as MemberStateDto } from '@berth/api/schemas/groups/group-page.ts'
import type { Templates } from '#/containers/templates/template.ts'
import { refusals } from '#/errors.ts'
import { covers } from '#/groups/group-directory.ts'
import { requireManaged } from '#/groups/group-rights.ts'
import type { EndGroup } from '#/groups/management/end-group.ts'
import type { GroupStart, GroupStarts } from '#/groups/management/group-starts.ts'
import type { GroupWatch } from '#/groups/management/group-watch.ts'
import type { MemberContainer, MemberState } from '#/groups/management/member-states.ts'
import type { ReadFailure } from '#/groups/management/read-failure.ts'
import { sessionOf, userOf } from '#/http/auth/caller.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { readGroupId } from '#/http/handlers/parameters.ts'
import { localizedReply, requestedLanguage } from '#/http/localized-reply.ts'
import { localize } from '#/messages/localize.ts'
import { message, type LocalizedMessage } from '#/messages/localized-message.ts'
import type { Db } from '#/store/database.ts'
import { managerOf } from './group-handlers.ts'
import { toGroup } from './group-serializers.ts'

export interface GroupPageHandlerParts {
  readonly db: Db
  readonly templates: Pick<Templates, 'all'>
  /** When the session of this claim `sid` ends, see `RenewSession.endOf`. */
  readonly sessionEnd: (sid: string) => Promise<Date>
  readonly watch: GroupWatch
  readonly starts: GroupStarts
  readonly readFailure: ReadFailure
  readonly endGroup: EndGroup
}

type Names = 'readManagedGroup' | 'groupEvents' | 'startGroup' | 'restartMember' | 'readMemberFailure' | 'endGroup'

/** What managers see and do while members work. Rights are checked by the use cases. */
export function groupPageHandlers(parts: GroupPageHandlerParts): Pick<Handlers, Names> {
  const { db, templates, starts, readFailure, endGroup } = parts
  return {
    readManagedGroup: async (call) => {
      const group = await requireManaged(db, managerOf(call), readGroupId(call.params.id))
      const known = templates.all().filter(({ type }) => covers(group, type))
      const types = known.map(({ type, displayName }) => ({ type, display_name: displayName }))
      return { group: toGroup(group), types }
    },
    groupEvents: groupEventsHandler(parts),
    startGroup: async (call) => {
      const { container_type: type } = call.body
      const begun = await starts.start(managerOf(call), readGroupId(call.params.id), type, call.now)
      return { message: localizedReply(call, sentenceOf(begun)) }
    },
    restartMember: async (call) => {
      const { id, user_id: userId, container_type: type } = call.params
      await starts.restart(managerOf(call), readGroupId(id), readMemberId(userId), type, call.now)
      return { message: localizedReply(call, message('groups.restarting')) }
    },
    readMemberFailure: async (call) => {
      const { id, user_id: userId, container_type: type } = call.params
      const ref = { groupId: readGroupId(id), userId: readMemberId(userId), type }
      const { reason, exitCode, lastLines } = await readFailure.run(managerOf(call), ref, call.now)
      return { message: localizedReply(call, reason), exit_code: exitCode, last_lines: [...lastLines] }
    },
    endGroup: async (call) => ({
      group: toGroup(await endGroup.run(managerOf(call), readGroupId(call.params.id), call.now)),
    }),
  }
}

function groupEventsHandler({ watch, sessionEnd }: GroupPageHandlerParts): Handlers['groupEvents'] {
  return async (call) => {
    const watched = await watch.find(managerOf(call), readGroupId(call.params.id))
    const { sid, isRenewable, expiresAt } = sessionOf(call).claims
    const language = requestedLanguage(call.request)
    return {
      endsAt: expiresAt,
      extendedTo: isRenewable ? () => sessionEnd(sid) : undefined,
      begin: (sink) =>
        watch.begin(
          watched,
          { userId: userOf(call).id, sid },
          {
            onSnapshot: () => void sink.send([{ name: 'snapshot', data: {} }]),
            onMembers: (states) =>
              sink.send([{ name: 'members', data: { members: states.map((each) => toMemberState(each, language)) } }]),
            onChanged: () => void sink.send([{ name: 'changed', data: {} }]),
            onEnd: sink.end,
          },
        ),
    }
  }
}

function sentenceOf({ count, refused, why }: GroupStart): LocalizedMessage {
  if (refused === 0) return message('groups.starting', { count })
  return message('groups.startingBut', { count, refused, why: why ?? message('launches.failed') })
}

const toMemberState = ({ userId, isHere, containers }: MemberState, language: Language): MemberStateDto => ({
  user_id: userId,
  is_here: isHere,
  containers: containers.map((each) => toMemberContainer(each, language)),
})

function toMemberContainer(
  { type, status, reason, stage }: MemberContainer,
  language: Language,
): MemberStateDto['containers'][number] {
  return {
    type,
    status,
    message: reason && localize(language, reason),
    stage: stage === undefined || stage.stage === 'ready' ? null : stage.stage,
    place: stage?.stage === 'queued' ? stage.place : null,
    has_output: stage?.stage === 'failed' && stage.last_lines.length > 0,
  }
}

/** @throws {Refusal} 404 */
function readMemberId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw refusals.groupNotFound('member')
  return Number(text)
}
