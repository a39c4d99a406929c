import { createApiClient } from '#/api/api-client.ts'
import { useBulkText } from '#/admin/list/use-list-text.ts'
import type { BulkKind } from '#/admin/bulk/bulk-jobs.tsx'
import { showUsers } from './user-list.ts'

/** Timeout in ms: all running containers of a thousand users have to stop. */
const timeout = 120_000

/** Blocks and unblocks many users. */
export function useUserBulk(): BulkKind {
  const text = useBulkText('admin.users')
  return {
    send: async (ids, wanted) => {
      const api = createApiClient(new AbortController().signal, timeout)
      const answer = await (wanted ? api.bulkBlockUsers : api.bulkUnblockUsers)({ body: { user_ids: ids } })
      await showUsers(answer.users)
      return { done: answer.users.map(({ id }) => id), notFound: answer.not_found, refused: answer.refused }
    },
    text,
    subjectOf: (id) => `user:${id}`,
  }
}
