import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { SheetPart } from '#/admin/details/detail-sheet.tsx'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Link } from '#/components/link.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { addressOf } from './audit-filter.ts'
import { Entry } from './entries.tsx'

/** Entries that a sheet shows; the page of the log has all. */
const limit = '5'

/** The latest entries of the audit log about one user, container or group. @param target such as `user:7` */
export function LatestEntries({ target }: { target: string }) {
  const t = useTranslations('admin.audit.latest')
  const typeName = useTypeName()
  const { data, error } = useQuery({
    queryKey: ['admin', 'audit', 'latest', target],
    queryFn: ({ signal }) => createApiClient(signal).listAudit({ query: { target, limit, names: 'true' } }),
    staleTime: 0,
    gcTime: 0,
  })
  const names = data?.names ?? {}
  return (
    <SheetPart title={t('title')}>
      <Alert error={error ?? undefined} />
      {data?.entries.length === 0 && <p className="hint">{t('none')}</p>}
      {data && data.entries.length > 0 && (
        <>
          <ol className="sheet-audit">
            {data.entries.map((entry) => (
              <Entry key={entry.id} entry={entry} names={names} typeName={typeName} isDated />
            ))}
          </ol>
          <p>
            <Link to={addressOf({ target })}>{t('all')}</Link>
          </p>
        </>
      )}
    </SheetPart>
  )
}
