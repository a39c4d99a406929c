import type { ApiToken } from '@berth/api/schemas/api-tokens.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { CreatedApiToken } from '#/accounts/api-tokens.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import type { Admin } from '#/admin/open-admin.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import type { StoredApiToken } from '#/store/api-tokens.ts'
import { actorOf, ownSessionOf, ownerOf, readId, readLimit, userOf, type Handlers } from './call.ts'

export function apiTokenHandlers({ apiTokens }: Pick<Accounts, 'apiTokens'>) {
  return {
    listApiTokens: async (call) => ({ tokens: (await apiTokens.list(userOf(call).id)).map(toApiToken) }),
    createApiToken: async (call) => {
      ownSessionOf(call)
      const owner = ownerOf(call)
      const { name, scopes, expires_in: expiresIn } = call.body
      return toCreatedApiToken(await apiTokens.create(owner, owner.id, { name, scopes, expiresIn }, call.now))
    },
    removeApiToken: async (call) => {
      ownSessionOf(call)
      const owner = ownerOf(call)
      await apiTokens.remove(owner, readId(call.params.id, 'token'), call.now)
      return { message: localizedReply(call, message('answers.tokenRemoved')) }
    },
  } satisfies Partial<Handlers>
}

const toApiToken = ({ id, name, scopes, createdAt, expiresAt, lastUsed }: StoredApiToken): ApiToken => ({
  id,
  name,
  scopes: [...scopes],
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
  last_used: lastUsed?.toISOString() ?? null,
})

export const toCreatedApiToken = (created: CreatedApiToken) => ({ token: created.token, ...toApiToken(created) })

/** Tokens in one answer without `limit`. */
const defaultPageSize = 100

export function apiTokenAdministrationHandlers({ apiTokens }: Pick<Admin, 'apiTokens'>) {
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
  } satisfies Partial<Handlers>
}
