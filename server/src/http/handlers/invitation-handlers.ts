import type { Invite } from '#/accounts/sign-up/invitations.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Handlers } from './handler-types.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface InvitationParts {
  readonly invite: Invite
}

export function invitationHandlers({ invite }: InvitationParts): Pick<Handlers, 'invite'> {
  return {
    invite: async (call) => {
      const { emails, send = true, language } = call.body
      // The answer has links, which sign in; an API token may not.
      if (!send && call.session?.scopes) throw refusals.notForApiTokens()
      const actor = actorOf(call)
      const report = (error: unknown) => call.request.log.error({ err: error }, 'an invitation failed')
      const invitations = await invite.run(
        emails,
        send,
        { ...actor, language: language ?? actor.language },
        call.now,
        report,
      )
      const invited = invitations.filter(({ status }) => status === 'invited').length
      return {
        message: localizedReply(call, message('answers.invited', { invited, all: invitations.length })),
        invitations,
      }
    },
  }
}
