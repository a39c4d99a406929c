import { createApiClient } from '#/api/api-client.ts'
import { useBulkText } from '#/admin/list/use-list-text.ts'
import type { BulkKind } from '#/admin/bulk/bulk-jobs.tsx'
import { showContainers } from './container-list.ts'

/** Timeout in ms: a thousand containers have to stop. */
const timeout = 120_000

/** Blocks and unblocks many containers. */
export function useContainerBulk(): BulkKind {
  const text = useBulkText('admin.containers')
  return {
    send: async (ids, wanted) => {
      const api = createApiClient(new AbortController().signal, timeout)
      const answer = await (wanted ? api.bulkBlockContainers : api.bulkUnblockContainers)({
        body: { container_ids: ids },
      })
      await showContainers(answer.containers)
      return { done: answer.containers.map(({ id }) => id), notFound: answer.not_found, refused: [] }
    },
    text,
    subjectOf: (id) => `container:${id}`,
  }
}
