import { connect } from '#/api.ts'
import { useBulkWords } from '#/admin/table/use-list-words.ts'
import type { BulkKind } from '#/admin/table/work.tsx'
import { showUsers } from './user-list.ts'

/** Milliseconds that a thousand users may take: all that runs of theirs is stopped. */
const limit = 120_000

/** Blocking and unblocking many users. */
export function useUserBulk(): BulkKind {
  const words = useBulkWords('admin.users')
  return {
    send: async (ids, wanted) => {
      const api = connect(new AbortController().signal, limit)
      const answer = await (wanted ? api.bulkBlockUsers : api.bulkUnblockUsers)({ body: { user_ids: ids } })
      await showUsers(answer.users)
      return { done: answer.users.map(({ id }) => id), notFound: answer.not_found, refused: answer.refused }
    },
    words,
    subjectOf: (id) => `user:${id}`,
  }
}
