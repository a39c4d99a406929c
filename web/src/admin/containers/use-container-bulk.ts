import { useTranslations } from 'use-intl/react'
import { connect } from '#/api.ts'
import type { BulkKind } from '#/admin/table/work.tsx'
import { showContainers } from './container-list.ts'

/** Milliseconds that a thousand containers may take to stop. */
const limit = 120_000

/** Blocking and unblocking many containers. */
export function useContainerBulk(): BulkKind {
  const t = useTranslations('admin.containers.bulk')
  return {
    send: async (ids, wanted) => {
      const api = connect(new AbortController().signal, limit)
      const answer = await (wanted ? api.bulkBlockContainers : api.bulkUnblockContainers)({
        body: { container_ids: ids },
      })
      await showContainers(answer.containers)
      return { done: answer.containers.map(({ id }) => id), notFound: answer.not_found, refused: [] }
    },
    words: {
      running: (wanted) => (wanted ? t('blocking') : t('unblocking')),
      changed: (wanted, count) => (wanted ? t('blocked', { count }) : t('unblocked', { count })),
      unchanged: (wanted, count) => (wanted ? t('blockedBefore', { count }) : t('unblockedBefore', { count })),
    },
  }
}
