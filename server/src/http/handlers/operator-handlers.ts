import { message } from '@berth/texts/localized-message.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { toCreatedApiToken } from './api-token-handlers.ts'
import { actorOf, type Handlers, type HandlersParts } from './call.ts'

/** Endpoints of the operator alone, at the server's own command line. */
export function operatorHandlers({ admin, accounts }: HandlersParts) {
  return {
    printLink: async (call) => {
      const { link, purpose, expiresAt } = await admin.printLink.print(call.body.email, actorOf(call), call.now)
      return { link, purpose, expires_at: expiresAt.toISOString() }
    },
    createApiTokenFor: async (call) => {
      const { email, name, scopes, expires_in: expiresIn } = call.body
      const request = { name, scopes, expiresIn }
      return toCreatedApiToken(await accounts.apiTokens.createFor(actorOf(call), email, request, call.now))
    },
    rotateKeys: async (call) => {
      const { kid, retired } = await admin.rotateKeys.run(actorOf(call), call.now)
      return {
        message: localizedReply(call, message('answers.keyRotated')),
        kid,
        retired: retired.map((each) => ({ kid: each.kid, until: each.until.toISOString() })),
      }
    },
  } satisfies Partial<Handlers>
}
