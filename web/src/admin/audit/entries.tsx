import { useMemo } from 'react'
import type { AuditResponse } from '@berth/api/schemas/administration/audit.ts'
import { useTranslations } from 'use-intl/react'
import { useInstants } from '#/admin/use-instants.ts'
import { useTypeName } from '#/components/type-name.tsx'
import { Entry } from './entry.tsx'

const none = {}

/** Entries by day in the reader's time zone, newest first. */
export function Entries({ pages }: { pages: readonly AuditResponse[] }) {
  const t = useTranslations('admin.audit.list')
  const { day } = useInstants()
  const typeName = useTypeName()
  // Each entry with the names of its own page, which stay the same object: a further page must not render all entries
  // again.
  const days = useMemo(() => {
    const rows = pages.flatMap(({ entries, names = none }) => entries.map((entry) => ({ entry, names })))
    return Map.groupBy(rows, ({ entry }) => day(entry.at))
  }, [pages, day])
  return (
    <div role="region" aria-label={t('label')}>
      {[...days].map(([name, ofDay]) => (
        <section key={name} className="day" aria-label={name}>
          <h2>{name}</h2>
          <ol>
            {ofDay.map(({ entry, names }) => (
              <Entry key={entry.id} entry={entry} names={names} typeName={typeName} />
            ))}
          </ol>
        </section>
      ))}
    </div>
  )
}
