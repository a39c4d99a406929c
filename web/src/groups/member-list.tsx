import type { Member } from '@berth/api/schemas/groups.ts'
import { useDeferredValue, useId, useMemo, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { NextPageButton } from '#/components/next-page-button.tsx'
import { matches, memberView, type Filter } from '#/groups/live/member-view.ts'
import { StateFilter } from '#/groups/live/state-filter.tsx'
import { useMemberStates } from '#/groups/live/use-member-states.ts'
import { MemberRows } from './member-rows.tsx'
import type { useMembers } from './use-members.ts'

/** From so many members on a field finds one of them. */
const minForFilter = 12

interface MemberListProps {
  id: string
  query: ReturnType<typeof useMembers>
  /** Types of which the viewer may ask for a look; the same array at each rendering. */
  lookTypes: readonly string[]
  /** What is above the list is there; before, the list would move when it comes. */
  isReady: boolean
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
}

/** Members by address, managers first, each with what the stream reports of their containers; rows stay where they are. */
export function MemberList({ id, query, lookTypes, isReady, isOff, isReadOnly }: MemberListProps) {
  const t = useTranslations('groups')
  const field = useId()
  const { states, isLive } = useMemberStates(id)
  const [wanted, setWanted] = useState('')
  const [chosen, setChosen] = useState<Filter>('all')
  // Field and buttons answer at once; the rows, which take longer than a frame, follow in a rendering that they interrupt.
  const text = useDeferredValue(wanted.trim().toLowerCase())
  const filter = useDeferredValue(chosen)
  const data = isReady ? query.data : undefined
  const members = useMemo(() => data?.pages.flatMap((page) => page.members).toSorted(byRoleAndAddress), [data])
  const views = useMemo(
    () => members?.map((member) => memberView(member, states.get(member.user.id))) ?? [],
    [members, states],
  )
  const shown = useMemo(
    () => views.filter((view) => view.member.user.email.includes(text) && matches(view, filter)),
    [views, text, filter],
  )
  return (
    <>
      <Alert error={query.error ?? undefined} />
      {(query.isPending || !isReady) && <p role="status">{t('loading')}</p>}
      {members && !query.hasNextPage && <p role="status">{t('members.count', { count: members.length })}</p>}
      {members && members.length > 0 && <StateFilter views={views} chosen={chosen} onChoose={setChosen} />}
      {members && members.length >= minForFilter && (
        <search className="group-form group-field">
          <label htmlFor={field}>{t('members.filter')}</label>
          <input id={field} type="search" value={wanted} onChange={({ target }) => setWanted(target.value)} />
        </search>
      )}
      {members && isLive === false && <p className="hint">{t('live.notLive')}</p>}
      {members && members.length > 0 && shown.length === 0 && <p>{t('members.noMatch')}</p>}
      {members && (
        <MemberRows
          groupId={id}
          members={members}
          states={states}
          shown={shown}
          lookTypes={lookTypes}
          isOff={isOff}
          isReadOnly={isReadOnly}
        />
      )}
      <NextPageButton query={query} fetching={t('loading')}>
        {t('members.more')}
      </NextPageButton>
    </>
  )
}

const byRoleAndAddress = (one: Member, other: Member) =>
  Number(other.role === 'manager') - Number(one.role === 'manager') || one.user.email.localeCompare(other.user.email)
