import { connect } from '#/api.ts'
import { useBulkWords } from '#/admin/table/use-list-words.ts'
import type { BulkKind } from '#/admin/table/work.tsx'
import { showContainers } from './container-list.ts'

/** Milliseconds that a thousand containers may take to stop. */
const limit = 120_000

/** Blocking and unblocking many containers. */
export function useContainerBulk(): BulkKind {
  const words = useBulkWords('admin.containers')
  return {
    send: async (ids, wanted) => {
      const api = connect(new AbortController().signal, limit)
      const answer = await (wanted ? api.bulkBlockContainers : api.bulkUnblockContainers)({
        body: { container_ids: ids },
      })
      await showContainers(answer.containers)
      return { done: answer.containers.map(({ id }) => id), notFound: answer.not_found, refused: [] }
    },
    words,
    subjectOf: (id) => `container:${id}`,
  }
}
