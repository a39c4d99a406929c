import { useTranslations } from 'use-intl/react'
import type { ListText } from './list-kind.ts'
import type { BulkKind } from '../bulk/bulk-jobs.tsx'

type Area = 'admin.users' | 'admin.containers'

/** The texts that lists have under the same keys; those shown instead of rows are the list's own. */
export function useListText(area: Area): Omit<ListText, 'noMatch' | 'none'> {
  const t = useTranslations(area)
  return {
    caption: t('caption'),
    search: t('search'),
    found: (count) => t('found', { count }),
    selected: (count) => t('bulk.selected', { count }),
    bulkTitle: (wanted, count) => (wanted ? t('bulk.blockTitle', { count }) : t('bulk.unblockTitle', { count })),
    bulkLines: (wanted) => (wanted ? [t('bulk.blockText'), t('bulk.blockLeftOut')] : [t('bulk.unblockText')]),
  }
}

/** The texts of bulk blocking and unblocking, while it runs and afterwards. */
export function useBulkText(area: Area): BulkKind['text'] {
  const t = useTranslations(`${area}.bulk`)
  return {
    running: (wanted) => (wanted ? t('blocking') : t('unblocking')),
    changed: (wanted, count) => (wanted ? t('blocked', { count }) : t('unblocked', { count })),
    staysStopped: () => t('staysStopped'),
    unchanged: (wanted, count) => (wanted ? t('blockedBefore', { count }) : t('unblockedBefore', { count })),
  }
}
