import type { ResendVerification, Rights } from '#/admin/user-administration.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { changeUser } from './changed-user.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface RoleParts {
  readonly rights: Rights
  readonly verification: ResendVerification
}

type Role = 'promoteUser' | 'demoteUser' | 'resendVerificationTo'

/** Role and verification of a user. */
export function roleHandlers({ rights, verification }: RoleParts): Pick<Handlers, Role> {
  return {
    promoteUser: changeUser((actor, id, now) => rights.promote(actor, id, now), message('answers.promoted')),
    demoteUser: changeUser((actor, id, now) => rights.demote(actor, id, now), message('answers.demoted')),

    resendVerificationTo: async (call) => {
      const email = await verification.run(actorOf(call), readId(call.params.id, 'user'), call.now)
      return { message: localizedReply(call, message('answers.linkSentTo', { email })) }
    },
  }
}
