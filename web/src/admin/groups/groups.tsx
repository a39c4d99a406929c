import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Group } from '@berth/api/schemas/groups.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { createApiClient } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { membersPath } from '#/groups/use-own-groups.ts'
import { GroupDialog } from './group-dialog.tsx'
import { GroupFacts, GroupSheet } from './group-sheet.tsx'
import { groupsKey, useGroups } from './use-groups.ts'

/** All groups, with ways to make, change and delete them. */
export function Groups() {
  const t = useTranslations('admin')
  const [isMaking, setMaking] = useState(false)
  return (
    <AdminPage
      title={t('shell.groups')}
      actions={
        <Button variant="primary" onPress={() => setMaking(true)}>
          {t('groups.form.new')}
        </Button>
      }
    >
      <p className="hint about">{t('groups.about')}</p>
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
      {isEmpty && <p className="empty">{q === '' ? t('none') : t('noMatch')}</p>}
      {groups && !isEmpty && (
        <ul className="rows" aria-label={t('list')}>
          {groups.map((group) => (
            <GroupRow key={group.id} group={group} />
          ))}
        </ul>
      )}
      <NextPageButton query={query} />
    </>
  )
}

/** A group with what it has, in one line; a press on its name opens the rest beside the list. */
function GroupRow({ group }: { group: Group }) {
  const t = useTranslations('admin.groups')
  const [open, setOpen] = useState<'details' | 'edit' | 'delete'>()
  const { name, description } = group
  const close = () => setOpen(undefined)
  return (
    <li className="row group-row">
      <div>
        <h2>
          <button type="button" className="link-button address" onClick={() => setOpen('details')}>
            {name}
          </button>{' '}
          {group.source !== 'local' && <span className="badge">{t('byProvider', { source: group.source })}</span>}
        </h2>
        {description !== '' && <p className="owner">{description}</p>}
        <GroupFacts group={group} />
      </div>
      <div className="member-actions">
        <Link to={membersPath(group.id)} className="button small">
          <ShortLabel text={t('open')} name={t('membersOf', { name })} />
        </Link>
        <Button variant="small" onPress={() => setOpen('edit')}>
          <ShortLabel text={t('edit')} name={t('editThis', { name })} />
        </Button>
      </div>
      {open === 'details' && <GroupSheet group={group} onOpen={setOpen} onClose={close} />}
      {open === 'edit' && <GroupDialog group={group} onClose={close} />}
      {open === 'delete' && <DeleteDialog group={group} onClose={close} />}
    </li>
  )
}

function DeleteDialog({ group, onClose }: { group: Group; onClose: () => void }) {
  const t = useTranslations('admin.groups.delete')
  const client = useQueryClient()
  const { notify } = useBulkJobs()
  async function run(signal: AbortSignal) {
    const { message } = await createApiClient(signal).deleteGroup({ params: { id: String(group.id) } })
    notify({ title: message })
    await client.invalidateQueries({ queryKey: groupsKey })
  }
  return (
    <ActionDialog title={t('title', { name: group.name })} words={t} isGrave run={run} onClose={onClose}>
      <p>{t('effect')}</p>
    </ActionDialog>
  )
}
