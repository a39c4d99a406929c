import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Group } from '@berth/api/schemas/groups.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { AdminPage, QueryError } from '#/admin/admin-page.tsx'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Button, ShortLabel } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { rich } from '#/components/rich.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { membersPath } from '#/groups/use-own-groups.ts'
import { pages } from '#/paths.ts'
import { Time, serverNow } from '#/time/time.tsx'
import { GroupDialog } from './group-dialog.tsx'
import { fieldOf } from './group-values.ts'
import { groupsKey, useGroups } from './use-groups.ts'

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

/** A group with what it has, and ways to its members, to change and to delete it. */
function GroupRow({ group }: { group: Group }) {
  const t = useTranslations('admin.groups')
  const [dialog, setDialog] = useState<'edit' | 'delete'>()
  const { name, description } = group
  const query = { group: String(group.id) }
  return (
    <li className="row">
      <div>
        <h2 className="address">
          <Link to={membersPath(group.id)}>{name}</Link>{' '}
          {group.source !== 'local' && <span className="badge">{t('byProvider', { source: group.source })}</span>}
        </h2>
        {description !== '' && <p className="owner">{description}</p>}
        <Facts group={group} />
      </div>
      <div className="member-actions">
        <Link to={membersPath(group.id)} className="button small">
          <ShortLabel text={t('open')} name={t('membersOf', { name })} />
        </Link>
        <Link to={addressOf(pages.adminUsage, query)} className="button small">
          <ShortLabel text={t('usage')} name={t('usageOf', { name })} />
        </Link>
        <Button variant="small" onPress={() => setDialog('edit')}>
          <ShortLabel text={t('edit')} name={t('editThis', { name })} />
        </Button>
        <Link to={addressOf(pages.adminTermEnd, query)} className="button small">
          <ShortLabel text={t('termEnd')} name={t('termEndOf', { name })} />
        </Link>
        <Button variant="small" onPress={() => setDialog('delete')}>
          <ShortLabel text={t('delete.open')} name={t('delete.openThis', { name })} />
        </Button>
      </div>
      {dialog === 'edit' && <GroupDialog group={group} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && <DeleteDialog group={group} onClose={() => setDialog(undefined)} />}
    </li>
  )
}

function Facts({ group: { member_count, types, limits, expires_at } }: { group: Group }) {
  const t = useTranslations('admin.groups')
  const nameOf = useTypeName()
  const named = (['running', 'memory', 'cpus', 'disk'] as const).filter((limit) => limits[limit] !== null)
  const words = named.map((limit) => `${t(`form.${limit}`)} ${fieldOf(limits, limit)}`)
  const at = expires_at !== null && { at: rich.inPlace(<Time at={expires_at} />) }
  const isOver = expires_at !== null && Date.parse(expires_at) <= serverNow()
  return (
    <ul className="dotted hint">
      <li>{t('members', { count: member_count })}</li>
      <li>{types === null ? t('everyType') : types.map(nameOf).join(', ')}</li>
      {words.length > 0 && <li>{t('limited', { limits: words.join(', ') })}</li>}
      {at && <li>{t.rich(isOver ? 'ended' : 'ends', at)}</li>}
    </ul>
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
    <ActionDialog
      title={t('title', { name: group.name })}
      confirm={t('confirm')}
      busy={t('busy')}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>{t('effect')}</p>
    </ActionDialog>
  )
}
