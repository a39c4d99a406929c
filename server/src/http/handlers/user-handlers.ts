import { statusWords, type OwnContainers, type StatusLookup } from '#/containers/routes/own-containers.ts'
import { userOf } from '#/http/auth/caller.ts'
import { toContainerEntry, toUser } from './dto-serializers.ts'
import type { Handlers } from './handler-types.ts'

export interface UserParts {
  readonly ownContainers: OwnContainers
  readonly spawnerUrl: string
}

export function userHandlers({ ownContainers, spawnerUrl }: UserParts): Pick<Handlers, 'me' | 'listContainers'> {
  return {
    me: async (call) => {
      const user = userOf(call)
      const { record, lookup } = await ownContainers.primary(user.id)
      return {
        user: {
          ...toUser(user),
          last_used: user.lastUsed?.toISOString() ?? null,
          created_at: user.createdAt.toISOString(),
        },
        container: {
          id: record?.containerId ?? null,
          port: record?.port ?? null,
          status: statusOf(lookup),
          service_url: `${spawnerUrl}/${user.slug}`,
        },
      }
    },

    listContainers: async (call) => {
      const user = userOf(call)
      const listed = await ownContainers.list(user)
      return { containers: listed.map((each) => toContainerEntry(spawnerUrl, user.slug, each)) }
    },
  }
}

function statusOf(lookup: StatusLookup | undefined): string {
  if (!lookup) return statusWords.unknown
  return 'failure' in lookup ? statusWords.error : lookup.state
}
