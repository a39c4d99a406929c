import { useMemo } from 'react'
import { useTranslations } from 'use-intl/react'
import type { BulkKind } from '#/admin/bulk/bulk-jobs.tsx'
import type { BulkTarget } from '#/admin/bulk/run-bulk.ts'
import type { Columns, Listed } from '#/admin/table/columns.ts'
import type { RowAction } from '#/components/menu.tsx'
import type { PagePath } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import type { Choice } from './toolbar.tsx'
import type { Source } from './use-rows.ts'
import { readView, type View, type ViewSpec } from './view.ts'

/** What distinguishes one list from another. */
export interface ListKind<R extends Listed> {
  readonly path: PagePath
  readonly className: string
  readonly source: Source<R>
  readonly columns: Columns<R>
  readonly choices: readonly Choice[]
  readonly bulk: BulkKind
  targetOf(row: R): BulkTarget
  /** Rows that bulk actions leave out: the administrator's own. */
  isLeftOut(id: number): boolean
  actionsOf(row: R): readonly RowAction[]
  readonly text: ListText
}

/** The texts of a list. */
interface ListText {
  readonly caption: string
  readonly search: string
  found(count: number): string
  selected(count: number): string
  /** When no row matches, and when there are no rows: a sentence, and what to do. */
  readonly noMatch: readonly [string, string]
  readonly none: readonly [string, string]
  /** @param wanted blocked, or not */
  bulkTitle(wanted: boolean, count: number): string
  bulkLines(wanted: boolean): readonly string[]
}

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

/** The view in the URL of this page; the same object while the URL is the same. */
export function useView(spec: ViewSpec): View {
  const { query } = useLocation()
  return useMemo(() => readView(query, spec), [query, spec])
}
