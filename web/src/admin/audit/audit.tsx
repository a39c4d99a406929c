import { useInfiniteQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { AuditVerdict } from '@berth/api/schemas/administration/audit.ts'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { maxPages, pagedQuery, useNextPage } from '#/components/paged-list.tsx'
import { useTask } from '#/components/use-task.ts'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import { FilterForm } from './audit-filter-form.tsx'
import { addressOf, conditionsOf, filterIn, isFiltered, type AuditFilter } from './audit-filter.ts'
import { Entries } from './entries.tsx'
import { ExportButton } from './export-button.tsx'

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
  const t = useTranslations('admin.audit')
  const [refreshes, setRefreshes] = useState(0)
  const log = useAudit(filter, refreshes)
  const isEmpty = log.data?.pages[0]?.entries.length === 0
  return (
    <>
      <div className="audit-tools">
        {isFiltered(filter) && (
          <Link to={pages.adminAudit} className="button small">
            {t('filter.clear')}
          </Link>
        )}
        <Button variant="small" isOff={log.isFetching} onPress={() => setRefreshes(refreshes + 1)}>
          {t('list.again')}
        </Button>
        <ExportButton filter={filter} />
        <VerifyButton />
      </div>
      <QueryError query={log} />
      {isEmpty && <p>{isFiltered(filter) ? t('list.noneFiltered') : t('list.none')}</p>}
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

const pageSize = 50
/** Max entries that are shown. */
const maxShown = pageSize * maxPages

/**
 * The log, page by page, newest first. It is not refetched automatically: rows must not move while a user reads.
 * @param refreshes a new number refetches
 */
function useAudit(filter: AuditFilter, refreshes: number) {
  return useInfiniteQuery({
    ...pagedQuery(['admin', 'audit', filter, refreshes], (after, signal) =>
      createApiClient(signal).listAudit({
        query: { ...conditionsOf(filter), names: 'true', limit: String(pageSize), ...after },
      }),
    ),
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  })
}

/** Verifies the whole audit chain, and says whether the log is unchanged. */
function VerifyButton() {
  const t = useTranslations('admin.audit.verify')
  const { busy, error, run } = useTask()
  const [verdict, setVerdict] = useState<AuditVerdict>()

  function verify() {
    setVerdict(undefined)
    void run(async (signal) => setVerdict(await createApiClient(signal).verifyAudit({ query: {} })))
  }

  return (
    <div className="verify">
      <Button variant="small" isOff={busy} onPress={verify}>
        {busy ? t('busy') : t('start')}
      </Button>
      <div role="status" className="live">
        {verdict && <Verdict verdict={verdict} />}
      </div>
      <Alert error={error} />
    </div>
  )
}

function Verdict({ verdict: { entries, head, first_broken: broken } }: { verdict: AuditVerdict }) {
  const t = useTranslations('admin.audit.verify')
  if (broken)
    return (
      <p className="alert">
        {t(`broken.${broken.what}`, { id: String(broken.id) })} {t('brokenAfter')}
      </p>
    )
  return (
    <div className="note verdict">
      <p>{t('whole', { entries })}</p>
      {entries > 0 && (
        <>
          <p>{t('keep')}</p>
          <p>
            <code className="path">{`--entries ${entries} --head ${head}`}</code>
          </p>
        </>
      )}
    </div>
  )
}
