import type { ApiTokenAdministration } from '#/admin/admin-lists.ts'
import { actorOf } from '#/http/auth/caller.ts'
import { toApiToken } from './api-token-handlers.ts'
import type { Handlers } from './handler-types.ts'
import { readId, readLimit } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface ApiTokenAdministrationParts {
  readonly apiTokens: ApiTokenAdministration
}

/** Tokens in one answer without `limit`. */
const defaultPageSize = 100

export function apiTokenAdministrationHandlers({
  apiTokens,
}: ApiTokenAdministrationParts): Pick<Handlers, 'listAllApiTokens' | 'revokeApiToken'> {
  return {
    listAllApiTokens: async ({ query }) => {
      const before = query.cursor === undefined ? undefined : Number(query.cursor)
      const { tokens, next } = await apiTokens.list(query.user, readLimit(query.limit, defaultPageSize), before)
      return {
        tokens: tokens.map((each) => ({ ...toApiToken(each), user: { id: each.userId, email: each.email } })),
        next_cursor: next === null ? null : String(next),
      }
    },
    revokeApiToken: async (call) => {
      await apiTokens.revoke(actorOf(call), readId(call.params.id, 'token'), call.now)
      return { message: localizedReply(call, message('answers.tokenRemoved')) }
    },
  }
}
