import { useTranslations } from 'use-intl/react'
import type { ListWords } from './list-kind.ts'

/** What the pages of lists say by the same keys of their catalogues; what stands there instead of rows is their own. */
export function useListWords(area: 'admin.users' | 'admin.containers'): Omit<ListWords, 'nothing' | 'none'> {
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
