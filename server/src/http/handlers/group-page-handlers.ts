import type { Language } from '@berth/api/boot.ts'
import type { MemberState as MemberStateDto } from '@berth/api/schemas/groups/group-page.ts'
import { localize } from '@berth/texts/localize.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { GroupStart, LookState, MemberContainer, MemberState } from '#/groups/open-groups.ts'
import { localizedReply, requestedLanguage } from '#/http/localized-reply.ts'
import type { Sharing } from '#/sharing/open-sharing.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import {
  actorOf,
  ownSessionOf,
  ownerOf,
  readGroupId,
  readId,
  readMemberId,
  sessionOf,
  userOf,
  type Handlers,
  type HandlersParts,
} from './call.ts'
import { managerOf, toGroup } from './group-handlers.ts'

/** What managers see and do while members work. Rights are checked by the use cases. */
export function groupPageHandlers(parts: HandlersParts) {
  const { managedGroup, starts, readFailure, endGroup } = parts.groups
  return {
    readManagedGroup: async (call) => {
      const read = await managedGroup.read(managerOf(call), readGroupId(call.params.id))
      const { group, types, folderPath, folderBytes, folderType } = read
      return {
        group: toGroup(group),
        types: types.map(({ template, mayAskToLook }) => ({
          type: template.type,
          display_name: template.displayName,
          may_ask_to_look: mayAskToLook,
        })),
        folder_path: folderPath,
        folder_bytes: folderBytes,
        folder_type: folderType,
      }
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
  } satisfies Partial<Handlers>
}

function groupEventsHandler(parts: HandlersParts): Handlers['groupEvents'] {
  const { watch } = parts.groups
  const urlOf = openUrlOf(parts)
  return async (call) => {
    const watched = await watch.find(managerOf(call), readGroupId(call.params.id))
    const { sid, isRenewable, expiresAt } = sessionOf(call).claims
    const language = requestedLanguage(call.request)
    return {
      endsAt: expiresAt,
      extendedTo: isRenewable ? () => parts.sessions.endOf(sid) : undefined,
      begin: (sink) =>
        watch.begin(
          watched,
          { userId: userOf(call).id, sid },
          {
            onSnapshot: () => void sink.send([{ name: 'snapshot', data: {} }]),
            onMembers: (states) =>
              sink.send([
                { name: 'members', data: { members: states.map((each) => toMemberState(each, language, urlOf)) } },
              ]),
            onChanged: () => void sink.send([{ name: 'changed', data: {} }]),
            onEnd: sink.end,
          },
        ),
    }
  }
}

/** Where a container opens; undefined while its owner has none. */
const openUrlOf =
  ({ config: { templates }, addresses, containers }: HandlersParts) =>
  ({ userId, type }: ContainerRef): string | undefined => {
    const slug = containers.routeSync.gatewayUserOf({ userId })?.slug
    const path = templates.get(type)?.openPath
    return slug && `${addresses.spawnerUrl}/${containerPrefix(slug, type)}${path ? `/${path}` : ''}`
  }

function sentenceOf({ count, refused, why }: GroupStart): LocalizedMessage {
  if (refused === 0) return message('groups.starting', { count })
  return message('groups.startingBut', { count, refused, why: why ?? message('groups.whyInRows') })
}

const toMemberState = (
  { userId, isHere, containers }: MemberState,
  language: Language,
  urlOf: ReturnType<typeof openUrlOf>,
): MemberStateDto => ({
  user_id: userId,
  is_here: isHere,
  containers: containers.map((each) => ({
    ...toMemberContainer(each, language),
    look: each.look === undefined ? null : toLook(each.look, urlOf({ userId, type: each.type })),
  })),
})

function toMemberContainer(
  { type, status, reason, stage }: MemberContainer,
  language: Language,
): Omit<MemberStateDto['containers'][number], 'look'> {
  return {
    type,
    status,
    message: reason && localize(language, reason),
    stage: stage === undefined || stage.stage === 'ready' ? null : stage.stage,
    place: stage?.stage === 'queued' ? stage.place : null,
    has_output: stage?.stage === 'failed' && stage.last_lines.length > 0,
  }
}

const toLook = ({ state, until }: LookState, url: string | undefined) => ({
  state,
  until: until.toISOString(),
  url: state === 'open' ? (url ?? null) : null,
})

/** Requests of managers to look, and their answers; none in a takeover. Rights are checked by the use cases. */
export function lookHandlers({ looks }: Sharing) {
  return {
    askToLook: async (call) => {
      ownSessionOf(call)
      const { id, user_id: userId, container_type: type } = call.params
      const target = { groupId: readGroupId(id), userId: readMemberId(userId), type }
      const email = await looks.ask({ ...actorOf(call), id: userOf(call).id }, target, call.now)
      return { message: localizedReply(call, message('sharing.asked', { email })) }
    },
    agreeToLook: async (call) => {
      ownSessionOf(call)
      const email = await looks.agree(ownerOf(call), readId(call.params.id, 'lookRequest'), call.now)
      return { message: localizedReply(call, message('sharing.agreed', { email })) }
    },
    declineLook: async (call) => {
      ownSessionOf(call)
      await looks.decline(ownerOf(call), readId(call.params.id, 'lookRequest'), call.now)
      return { message: localizedReply(call, message('sharing.declined')) }
    },
  } satisfies Partial<Handlers>
}
