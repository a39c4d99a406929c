import type { Member } from '@berth/api/schemas/groups.ts'
import { useEffect, useId, useMemo, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { NextPageButton } from '#/components/next-page-button.tsx'
import { useAnnounce } from '#/groups/live/announcements.tsx'
import { matches, memberView, type Filter, type Launchables } from '#/groups/live/member-view.ts'
import { StateFilter } from '#/groups/live/state-filter.tsx'
import { useListFilter } from '#/groups/live/use-list-filter.ts'
import { useMemberStates } from '#/groups/live/use-member-states.ts'
import { MemberRows } from './member-rows.tsx'
import type { useMembers } from './use-members.ts'

/** From so many members on a field finds one of them. */
const minForFilter = 12
/** Between the last key and what is said of the result, in ms. */
const announceDelay = 500

interface MemberListProps {
  id: string
  query: ReturnType<typeof useMembers>
  /** The same array at each rendering. */
  types: Launchables
  /** What is above the list is there; before, the list would move when it comes. */
  isReady: boolean
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
  /** Nothing of the group is started any more. */
  isEnded: boolean
}

/** Members by address, managers first, each with what the stream reports of their containers; rows stay where they are. */
export function MemberList({ id, query, types, isReady, isOff, isReadOnly, isEnded }: MemberListProps) {
  const t = useTranslations('groups')
  const field = useId()
  const { states, isLive } = useMemberStates(id)
  const { wanted, chosen, text, filter, want, choose } = useListFilter()
  /** The row that was used last, by its member. It stays although the filter no longer finds it, as after a restart of what failed. */
  const [used, setUsed] = useState<number>()
  const data = isReady ? query.data : undefined
  const members = useMemo(() => data?.pages.flatMap((page) => page.members).toSorted(byRoleAndAddress), [data])
  const views = useMemo(
    () => members?.map((member) => memberView(member, states.get(member.user.id), types)) ?? [],
    [members, states, types],
  )
  const found = useMemo(
    () => views.filter((view) => view.member.user.email.includes(text) && matches(view, filter)),
    [views, text, filter],
  )
  const shown = useMemo(() => {
    const ids = new Set(found.map(({ member }) => member.user.id))
    return used === undefined ? ids : ids.add(used)
  }, [found, used])
  const isFiltered = text !== '' || filter !== 'all'
  const { hasNextPage, isFetching, error, fetchNextPage } = query
  // The filters and their numbers are about all members. The first page is on the screen before the next is asked for.
  const isFirstShown = members !== undefined
  useEffect(() => {
    if (isFirstShown && hasNextPage && !isFetching && !error) void fetchNextPage()
  }, [isFirstShown, hasNextPage, isFetching, error, fetchNextPage])
  useResult(
    `${filter} ${text} ${(!hasNextPage && members?.length) || ''}`,
    found.length === 0 ? t('members.noMatch') : countOf(found.length),
  )

  function countOf(count: number): string {
    const total = members?.length ?? 0
    return isFiltered ? t('members.countShown', { count, total }) : t('members.count', { count: total })
  }
  function find(next: string) {
    setUsed(undefined)
    want(next)
  }
  function filterBy(next: Filter) {
    setUsed(undefined)
    choose(next)
  }
  return (
    <>
      <Alert error={query.error ?? undefined} />
      {(query.isPending || !isReady) && <p role="status">{t('loading')}</p>}
      {members && members.length > 0 && (
        <StateFilter views={hasNextPage ? undefined : views} chosen={chosen} onChoose={filterBy} />
      )}
      {members && members.length >= minForFilter && (
        <search className="group-form group-field">
          <label htmlFor={field}>{t('members.filter')}</label>
          <input id={field} type="search" value={wanted} onChange={({ target }) => find(target.value)} />
        </search>
      )}
      {members && !hasNextPage && (
        <p className="hint">{found.length === 0 && isFiltered ? t('members.noMatch') : countOf(found.length)}</p>
      )}
      {members && isLive === false && <p className="hint">{t('live.notLive')}</p>}
      {members && (
        <MemberRows
          groupId={id}
          members={members}
          states={states}
          shown={shown}
          types={types}
          isOff={isOff}
          isReadOnly={isReadOnly}
          isEnded={isEnded}
          onUse={isFiltered ? setUsed : undefined}
        />
      )}
      <NextPageButton query={query} fetching={t('loading')}>
        {t('members.more')}
      </NextPageButton>
    </>
  )
}

/** Says what a change of the filter, or of who is a member, has led to, once; and nothing when rows change by themselves. */
function useResult(cause: string, sentence: string): void {
  const announce = useAnnounce()
  const latest = useRef(sentence)
  const said = useRef(cause)
  useEffect(() => {
    latest.current = sentence
  })
  useEffect(() => {
    if (said.current === cause) return
    const timer = setTimeout(() => {
      said.current = cause
      announce(latest.current)
    }, announceDelay)
    return () => clearTimeout(timer)
  }, [cause, announce])
}

const byRoleAndAddress = (one: Member, other: Member) =>
  Number(other.role === 'manager') - Number(one.role === 'manager') || one.user.email.localeCompare(other.user.email)
