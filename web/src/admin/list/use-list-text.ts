import { useTranslations } from 'use-intl/react'
import type { ListText } from './list-kind.ts'
import type { BulkKind } from '../bulk/bulk-jobs.tsx'

type Area = 'admin.users' | 'admin.containers'

/** What the pages of lists say by the same keys of their catalogues; what stands there instead of rows is their own. */
export function useListText(area: Area): Omit<ListText, 'nothing' | 'none'> {
  const t = useTranslations(area)
  return {
    caption: t('caption'),
    search: t('search'),
    found: (count) => t('found', { count }),
    selected: (count) => t('bulk.selected', { count }),
    bulkTitle: (wanted, count) => (wanted ? t('bulk.blockTitle', { count }) : t('bulk.unblockTitle', { count })),
    bulkLines: (wanted) => (wanted ? [t('bulk.blockWords'), t('bulk.blockLeftOut')] : [t('bulk.unblockWords')]),
  }
}

/** What is said of blocking and unblocking many, while it is done and when it was. */
export function useBulkText(area: Area): BulkKind['text'] {
  const t = useTranslations(`${area}.bulk`)
  return {
    running: (wanted) => (wanted ? t('blocking') : t('unblocking')),
    changed: (wanted, count) => (wanted ? t('blocked', { count }) : t('unblocked', { count })),
    staysStopped: () => t('staysStopped'),
    unchanged: (wanted, count) => (wanted ? t('blockedBefore', { count }) : t('unblockedBefore', { count })),
  }
}
