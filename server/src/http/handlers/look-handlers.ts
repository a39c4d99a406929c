import { actorOf, ownerOf, ownSessionOf, userOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { readGroupId, readId, readMemberId } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { AnswerLook } from '#/sharing/answer-look.ts'
import type { AskToLook } from '#/sharing/ask-to-look.ts'

export interface LookHandlerParts {
  readonly askToLook: AskToLook
  readonly answerLook: AnswerLook
}

type Names = 'askToLook' | 'agreeToLook' | 'declineLook'

/** Requests of managers to look, and their answers; none in a takeover. Rights are checked by the use cases. */
export function lookHandlers({ askToLook, answerLook }: LookHandlerParts): Pick<Handlers, Names> {
  return {
    askToLook: async (call) => {
      ownSessionOf(call)
      const { id, user_id: userId, container_type: type } = call.params
      const target = { groupId: readGroupId(id), userId: readMemberId(userId), type }
      const email = await askToLook.run({ ...actorOf(call), id: userOf(call).id }, target, call.now)
      return { message: localizedReply(call, message('sharing.asked', { email })) }
    },
    agreeToLook: async (call) => {
      ownSessionOf(call)
      const email = await answerLook.agree(ownerOf(call), readId(call.params.id, 'lookRequest'), call.now)
      return { message: localizedReply(call, message('sharing.agreed', { email })) }
    },
    declineLook: async (call) => {
      ownSessionOf(call)
      await answerLook.decline(ownerOf(call), readId(call.params.id, 'lookRequest'), call.now)
      return { message: localizedReply(call, message('sharing.declined')) }
    },
  }
}
