import { listContainers } from '#/containers/state/list-containers.ts'
import { primaryOf, statusWords, type StatusLookups } from '#/containers/state/status-lookups.ts'
import type { Templates } from '#/containers/templates/template.ts'
import type { Handlers } from '#/http/handlers/handler-types.ts'
import { userOf } from '#/http/auth/caller.ts'
import { toContainerEntry } from '#/http/handlers/dto-serializers.ts'
import type { Database } from '#/store/database.ts'
import { listContainersOf } from '#/store/containers/user-containers.ts'

export interface UserParts {
  readonly database: Database
  readonly statusLookups: StatusLookups
  readonly templates: Templates
  readonly spawnerUrl: string
}

export function userHandlers({
  database,
  statusLookups,
  templates,
  spawnerUrl,
}: UserParts): Pick<Handlers, 'me' | 'listContainers'> {
  return {
    me: async (call) => {
      const user = userOf(call)
      const primary = primaryOf(await listContainersOf(database.db, user.id), templates)
      const id = primary?.containerId ?? null
      return {
        user: {
          id: user.id,
          email: user.email,
          slug: user.slug,
          is_admin: user.isAdmin,
          state: user.state,
          last_used: user.lastUsed?.toISOString() ?? null,
          created_at: user.createdAt.toISOString(),
        },
        container: {
          id,
          port: primary?.port ?? null,
          status: id === null ? statusWords.unknown : await statusFor(statusLookups, id),
          service_url: `${spawnerUrl}/${user.slug}`,
        },
      }
    },

    listContainers: async (call) => {
      const user = userOf(call)
      const records = await listContainersOf(database.db, user.id)
      const listed = await listContainers(statusLookups, templates, records)
      return { containers: listed.map((each) => toContainerEntry(spawnerUrl, user.slug, each)) }
    },
  }
}

async function statusFor(statuses: StatusLookups, id: string): Promise<string> {
  const status = await statuses.of(id)
  return 'failure' in status ? statusWords.error : status.state
}
