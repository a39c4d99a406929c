import type { ApiToken } from '@berth/api/schemas/api-tokens.ts'
import type { ApiTokens, CreatedApiToken } from '#/accounts/api-tokens.ts'
import { ownSessionOf, ownerOf, userOf } from '#/http/auth/caller.ts'
import type { Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { StoredApiToken } from '#/store/api-tokens.ts'

export interface ApiTokenParts {
  readonly apiTokens: ApiTokens
}

type ApiTokenNames = 'listApiTokens' | 'createApiToken' | 'removeApiToken'

export function apiTokenHandlers({ apiTokens }: ApiTokenParts): Pick<Handlers, ApiTokenNames> {
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
  }
}

export const toApiToken = ({ id, name, scopes, createdAt, expiresAt, lastUsed }: StoredApiToken): ApiToken => ({
  id,
  name,
  scopes: [...scopes],
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
  last_used: lastUsed?.toISOString() ?? null,
})

export const toCreatedApiToken = (created: CreatedApiToken) => ({ token: created.token, ...toApiToken(created) })
