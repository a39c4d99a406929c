import type { Member } from '@berth/api/schemas/groups.ts'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { NextPageButton } from '#/components/next-page-button.tsx'
import { matches, memberView, type Filter } from '#/groups/live/member-view.ts'
import { StateFilter } from '#/groups/live/state-filter.tsx'
import { useMemberStates } from '#/groups/live/use-member-states.ts'
import { MemberRow } from './member-row.tsx'
import { useMembers } from './use-members.ts'

/** From so many members on a field finds one of them. */
const minForFilter = 12

interface MemberListProps {
  id: string
  /** Types of which the viewer may ask for a look; the same array at each rendering. */
  lookTypes: readonly string[]
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
}

/** Members by address, managers first, each with what the stream reports of their containers; rows stay where they are. */
export function MemberList({ id, lookTypes, isOff, isReadOnly }: MemberListProps) {
  const t = useTranslations('groups')
  const field = useId()
  const query = useMembers(id)
  const { states, isLive } = useMemberStates(id)
  const [wanted, setWanted] = useState('')
  const [filter, setFilter] = useState<Filter>('all')
  const members = query.data?.pages.flatMap((page) => page.members).toSorted(byRoleAndAddress)
  const views = members?.map((member) => memberView(member, states.get(member.user.id))) ?? []
  const text = wanted.trim().toLowerCase()
  const shown = views.filter((view) => view.member.user.email.includes(text) && matches(view, filter))
  return (
    <>
      <Alert error={query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      {members && !query.hasNextPage && <p role="status">{t('members.count', { count: members.length })}</p>}
      {members && members.length > 0 && <StateFilter views={views} chosen={filter} onChoose={setFilter} />}
      {members && members.length >= minForFilter && (
        <search className="group-form group-field">
          <label htmlFor={field}>{t('members.filter')}</label>
          <input id={field} type="search" value={wanted} onChange={({ target }) => setWanted(target.value)} />
        </search>
      )}
      {members && !isLive && <p className="hint">{t('live.notLive')}</p>}
      {members && members.length > 0 && shown.length === 0 && <p>{t('members.noMatch')}</p>}
      <ul className="rows">
        {shown.map(({ member }) => (
          <MemberRow
            key={member.user.id}
            groupId={id}
            member={member}
            state={states.get(member.user.id)}
            lookTypes={lookTypes}
            isOff={isOff}
            isReadOnly={isReadOnly}
          />
        ))}
      </ul>
      <NextPageButton query={query} fetching={t('loading')}>
        {t('members.more')}
      </NextPageButton>
    </>
  )
}

const byRoleAndAddress = (one: Member, other: Member) =>
  Number(other.role === 'manager') - Number(one.role === 'manager') || one.user.email.localeCompare(other.user.email)
