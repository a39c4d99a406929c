import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { TermEndForm } from '#/admin/term-end/term-end-form.tsx'
import { TermEndProgress } from '#/admin/term-end/term-end-progress.tsx'
import { useGroup, useTermEnd } from '#/admin/term-end/use-term-end.ts'
import { QueryError } from '#/admin/query-error.tsx'
import { Link } from '#/components/link.tsx'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'

/** The end of the term of a group: what it will do, and how far it is. */
export function TermEnd() {
  const t = useTranslations('admin.termEnd')
  const id = useLocation().query.get('group') ?? ''
  if (id !== '') return <OfGroup key={id} id={id} />
  return (
    <AdminPage title={t('title')}>
      <p>{t('noGroup')}</p>
      <BackToGroups />
    </AdminPage>
  )
}

function OfGroup({ id }: { id: string }) {
  const t = useTranslations('admin.termEnd')
  const group = useGroup(id)
  const query = useTermEnd(id)
  const termEnd = query.data
  const mayBegin = termEnd === null || termEnd?.phase === 'done'
  return (
    <AdminPage title={group.data ? t('of', { name: group.data.name }) : t('title')}>
      <BackToGroups />
      <p className="hint about">{t('about')}</p>
      <QueryError query={group.error ? group : query} />
      {termEnd && <TermEndProgress id={id} termEnd={termEnd} />}
      {group.data && mayBegin && <TermEndForm id={id} name={group.data.name} />}
    </AdminPage>
  )
}

function BackToGroups() {
  const t = useTranslations('admin.termEnd')
  return (
    <p>
      <Link to={pages.adminGroups}>{t('back')}</Link>
    </p>
  )
}
