import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { GroupDialog } from '#/admin/groups/group-dialog.tsx'
import { GroupRow } from '#/admin/groups/group-row.tsx'
import { useGroups } from '#/admin/groups/use-groups.ts'
import { QueryError } from '#/admin/query-error.tsx'
import { Button } from '#/components/button.tsx'
import { NextPageButton } from '#/components/next-page-button.tsx'

/** All groups, with ways to make, change and delete them. */
export function Groups() {
  const t = useTranslations('admin')
  const [isMaking, setMaking] = useState(false)
  return (
    <AdminPage title={t('shell.groups')}>
      <p className="hint about">{t('groups.about')}</p>
      <p>
        <Button variant="primary" onPress={() => setMaking(true)}>
          {t('groups.form.new')}
        </Button>
      </p>
      <List />
      {isMaking && <GroupDialog group={undefined} onClose={() => setMaking(false)} />}
    </AdminPage>
  )
}

function List() {
  const t = useTranslations('admin.groups')
  const id = useId()
  const [q, setQ] = useState('')
  const query = useGroups(q.trim())
  const groups = query.data?.pages.flatMap((page) => page.groups)
  const isEmpty = groups?.length === 0
  return (
    <>
      {!(isEmpty && q === '') && (
        <search className="group-form group-field">
          <label htmlFor={id}>{t('find')}</label>
          <input id={id} type="search" value={q} maxLength={100} onChange={({ target }) => setQ(target.value)} />
        </search>
      )}
      <QueryError query={query} />
      {isEmpty && <p>{q === '' ? t('none') : t('noMatch')}</p>}
      {groups && !isEmpty && (
        <ul className="rows" aria-label={t('list')}>
          {groups.map((group) => (
            <GroupRow key={group.id} group={group} />
          ))}
        </ul>
      )}
      <NextPageButton query={query} fetching={t('loadingMore')}>
        {t('more')}
      </NextPageButton>
    </>
  )
}
