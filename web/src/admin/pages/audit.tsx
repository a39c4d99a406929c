import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { Entries } from '#/admin/audit/entries.tsx'
import { ExportButton } from '#/admin/audit/export/export-button.tsx'
import { addressOf, filterIn, isFiltered, type AuditFilter } from '#/admin/audit/filter/audit-filter.ts'
import { FilterForm } from '#/admin/audit/filter/audit-filter-form.tsx'
import { maxShown, useAudit } from '#/admin/audit/use-audit.ts'
import { VerifyButton } from '#/admin/audit/verify-button.tsx'
import { QueryError } from '#/admin/query-error.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { Button } from '#/components/button.tsx'
import { useNextPage } from '#/components/next-page-button.tsx'
import { useLocation } from '#/router/router.ts'

/** The audit log: who did what to whom. */
export function Audit() {
  const t = useTranslations('admin')
  const filter = filterIn(useLocation().query)
  const key = addressOf(filter)
  return (
    <AdminPage title={t('shell.audit')}>
      <p className="hint about">{t('audit.about')}</p>
      <FilterForm key={key} filter={filter} />
      <Log key={`log ${key}`} filter={filter} />
    </AdminPage>
  )
}

function Log({ filter }: { filter: AuditFilter }) {
  const t = useTranslations('admin.audit.list')
  const [refreshes, setRefreshes] = useState(0)
  const log = useAudit(filter, refreshes)
  const isEmpty = log.data?.pages[0]?.entries.length === 0
  return (
    <>
      <div className="audit-tools">
        <Button variant="small" isOff={log.isFetching} onPress={() => setRefreshes(refreshes + 1)}>
          {t('again')}
        </Button>
        <ExportButton filter={filter} />
        <VerifyButton />
      </div>
      <QueryError query={log} />
      {isEmpty && <p>{isFiltered(filter) ? t('noneFiltered') : t('none')}</p>}
      {log.data && !isEmpty && (
        <>
          <Entries pages={log.data.pages} />
          <More log={log} isFiltered={isFiltered(filter)} />
        </>
      )}
    </>
  )
}

function More({ log, isFiltered: isPart }: { log: ReturnType<typeof useAudit>; isFiltered: boolean }) {
  const t = useTranslations('admin.audit.list')
  const { count } = useQuantities()
  const place = useRef<HTMLDivElement>(null)
  const fetchNext = useNextPage(log, place)
  if (log.hasNextPage)
    return (
      <div ref={place}>
        <Button isOff={log.isFetchingNextPage} onPress={fetchNext}>
          {log.isFetchingNextPage ? t('loadingMore') : t('more')}
        </Button>
      </div>
    )
  if (log.data?.pages.at(-1)?.next_cursor) return <p className="hint">{t('enough', { count: count(maxShown) })}</p>
  return <p className="hint">{isPart ? t('endFiltered') : t('end')}</p>
}
