import type { PreviewedMember, TermEndSums } from '@berth/api/schemas/groups/term-end.ts'
import { useTranslations } from 'use-intl/react'
import { useQuantities } from '#/admin/quantities.ts'
import { QueryError } from '#/admin/query-error.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { Alert } from '#/components/alert.tsx'
import { NextPageButton } from '#/components/next-page-button.tsx'
import type { usePreview } from './use-term-end.ts'

interface TermEndPreviewProps {
  query: ReturnType<typeof usePreview>
  sums: TermEndSums | undefined
}

/** What an end of term will do: numbers, and each member by name. */
export function TermEndPreview({ query, sums }: TermEndPreviewProps) {
  const t = useTranslations('admin.termEnd')
  const members = query.data?.pages.flatMap((page) => page.members) ?? []
  return (
    <section className="part" aria-labelledby="term-end-preview">
      <h2 id="term-end-preview">{t('preview.title')}</h2>
      <QueryError query={query} />
      {sums && <Sums sums={sums} />}
      {sums?.members === 0 && <p>{t('preview.none')}</p>}
      <ul className="rows" aria-label={t('preview.members')}>
        {members.map((each) => (
          <Member key={each.user.id} member={each} />
        ))}
      </ul>
      <NextPageButton query={query} fetching={t('loadingMore')}>
        {t('more')}
      </NextPageButton>
    </section>
  )
}

function Sums({ sums }: { sums: TermEndSums }) {
  const t = useTranslations('admin.termEnd.preview')
  const { bytes } = useQuantities()
  const free = bytes(sums.free_bytes)
  return (
    <>
      <ul>
        <li>{t('accounts', { count: sums.accounts })}</li>
        {sums.staying > 0 && <li>{t('staying', { count: sums.staying })}</li>}
        {sums.untouched > 0 && <li>{t('untouched', { count: sums.untouched })}</li>}
        <li>{t('homes', { count: sums.homes, bytes: bytes(sums.bytes) })}</li>
        {sums.homes_without_size > 0 && <li>{t('unknown', { count: sums.homes_without_size })}</li>}
        {sums.has_room && <li>{t('room', { free })}</li>}
      </ul>
      <Alert error={undefined} sentence={sums.has_room ? undefined : t('noRoom', { free })} />
    </>
  )
}

function Member({ member: { user, outcome, reason, archives, keeps } }: { member: PreviewedMember }) {
  const t = useTranslations('admin.termEnd')
  const { bytes } = useQuantities()
  const nameOf = useTypeName()
  const archived = archives.map(({ type, bytes: size }) =>
    size === null ? nameOf(type) : `${nameOf(type)} (${bytes(size)})`,
  )
  return (
    <li className="row">
      <div>
        <h3 className="address">{user.email}</h3>
        <ul className="dotted hint">
          <li>{t(`outcome.${outcome}`)}</li>
          {reason !== null && <li>{t(`reason.${reason}`)}</li>}
          {archived.length > 0 && <li>{t('archives', { types: archived.join(', ') })}</li>}
          {keeps.length > 0 && <li>{t('keeps', { types: keeps.map(nameOf).join(', ') })}</li>}
        </ul>
      </div>
    </li>
  )
}
