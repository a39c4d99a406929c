import { useTranslations } from 'use-intl/react'
import type { Group } from '@berth/api/schemas/groups.ts'
import { LatestEntries } from '#/admin/audit/latest-entries.tsx'
import { DetailSheet, SheetPart } from '#/admin/details/detail-sheet.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { useTypeName, useTypes } from '#/components/type-name.tsx'
import { TypeSign } from '#/components/type-sign.tsx'
import { membersPath } from '#/groups/use-own-groups.ts'
import { pages } from '#/paths.ts'
import { serverNow } from '#/time/time.tsx'
import { fieldOf, limitNames } from './group-values.ts'

interface GroupSheetProps {
  group: Group
  onOpen(dialog: 'edit' | 'delete'): void
  onClose(): void
}

/** Everything about one group beside the list: members, types, limits, end, usage, and what the audit log says. */
export function GroupSheet({ group, onOpen, onClose }: GroupSheetProps) {
  const t = useTranslations('admin.groups')
  const { id, name, description, types } = group
  const query = { group: String(id) }
  const actions = [
    { key: 'edit', label: t('edit'), run: () => onOpen('edit') },
    { key: 'delete', label: t('delete.open'), isGrave: true, run: () => onOpen('delete') },
  ]
  return (
    <DetailSheet title={name} actions={actions} onClose={onClose}>
      {description !== '' && <p>{description}</p>}
      <GroupFacts group={group} isList />
      {types !== null && <TypesOf types={types} />}
      <SheetPart title={t('further')}>
        <ul className="sheet-rows">
          <li>
            <Link to={membersPath(id)}>{t('membersOf', { name })}</Link>
          </li>
          <li>
            <Link to={addressOf(pages.adminUsage, query)}>{t('usageOf', { name })}</Link>
          </li>
          <li>
            <Link to={addressOf(pages.adminTermEnd, query)}>{t('termEndOf', { name })}</Link>
          </li>
        </ul>
      </SheetPart>
      <LatestEntries target={`group:${id}`} />
    </DetailSheet>
  )
}

function TypesOf({ types }: { types: readonly string[] }) {
  const t = useTranslations('admin.groups')
  const nameOf = useTypeName()
  const all = useTypes().data
  return (
    <SheetPart title={t('form.types')}>
      <ul className="sheet-rows">
        {types.map((type) => (
          <li key={type}>
            <span className="sheet-name">
              <TypeSign icon={all?.find((each) => each.type === type)?.icon} />
              {nameOf(type)}
            </span>
          </li>
        ))}
      </ul>
    </SheetPart>
  )
}

/** Members, types, limits and end of a group. @param isList one below the other, not in one line */
export function GroupFacts({
  group: { member_count, types, limits, expires_at },
  isList = false,
}: {
  group: Group
  isList?: boolean
}) {
  const t = useTranslations('admin.groups')
  const nameOf = useTypeName()
  const named = limitNames.filter((limit) => limits[limit] !== null)
  const words = named.map((limit) => t(`limit.${limit}`, { count: Number(fieldOf(limits, limit)) }))
  const at = expires_at !== null && { at: rich.time(expires_at) }
  const isOver = expires_at !== null && Date.parse(expires_at) <= serverNow()
  return (
    <ul className={isList ? 'dotted hint detail-facts' : 'dotted hint'}>
      <li>{t('members', { count: member_count })}</li>
      <li>{types === null ? t('everyType') : types.map(nameOf).join(', ')}</li>
      {words.length > 0 && <li>{t('limited', { limits: words.join(', ') })}</li>}
      {at && <li>{t.rich(isOver ? 'ended' : 'ends', at)}</li>}
    </ul>
  )
}
