import { useCallback, useEffect, useId, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useTranslations } from 'use-intl/react'
import { endpoints } from '@berth/api/endpoints.ts'
import { openStream } from '#/api/api-client.ts'
import { Icon } from '#/components/icon.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { search } from '#/icons/late-icons.ts'
import { whileVisible } from '#/events/event-store.ts'
import { useAnnounce } from './announcements.tsx'
import { countBelow, keptOrder, orderOf, type ClassOrder } from './class-order.ts'
import { MemberRows } from './member-rows.tsx'
import { MemberSheet } from './member-sheet.tsx'
import { MemberStatesStore, type MemberStates } from './member-states-store.ts'
import { isNamed, matches, memberView, type Filter, type Launchables, type MemberView } from './member-view.ts'
import { StateFilter, useListFilter } from './state-filter.tsx'
import { useMembersChanged, type useMembers } from './use-members.ts'

/** From so many members on a field finds one of them. */
const minForFilter = 12
/** Between the last key and what is said of the result, in ms. */
const announceDelay = 500
/** How long rows wait at most for the first states, which their order follows, in ms. */
const maxWait = 400

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
  /** Rows are on the page; the same function at each rendering. */
  onShown(): void
}

/**
 * Members of a group, those who need the teacher first, each with what the stream reports of their containers. Rows
 * stay where they are while states change; a button sorts them again.
 */
export function MemberList({ id, query, types, isReady, isOff, isReadOnly, isEnded, onShown }: MemberListProps) {
  const t = useTranslations('groups')
  const field = useId()
  const { states, isLive } = useMemberStates(id)
  const { wanted, chosen, text, filter, want, choose } = useListFilter()
  /** The member whose sheet was opened last stays in the list although the filter no longer finds it. */
  const [used, setUsed] = useState<number>()
  const [open, setOpen] = useState<number>()
  const data = isReady ? query.data : undefined
  const members = useMemo(() => data?.pages.flatMap((page) => page.members), [data])
  const views = useMemo(
    () => members?.map((member) => memberView(member, states.get(member.user.id), types)) ?? [],
    [members, states, types],
  )
  const isTold = isLive === false || views.every(({ isHere }) => isHere !== undefined)
  const { order, below, sort } = useClassOrder(members && views, isTold)
  const ordered = useMemo(() => {
    const byId = new Map(members?.map((member) => [member.user.id, member]))
    return order?.flatMap((each) => byId.get(each) ?? [])
  }, [members, order])
  const found = useMemo(
    () => views.filter((view) => isNamed(view.member, text) && matches(view, filter)),
    [views, text, filter],
  )
  const shown = useMemo(() => {
    const ids = new Set(found.map(({ member }) => member.user.id))
    return used === undefined ? ids : ids.add(used)
  }, [found, used])
  const isFiltered = text !== '' || filter !== 'all'
  const { hasNextPage, isFetching, error, fetchNextPage } = query
  // The filters and their numbers are about all members. The first page is on the screen before the next is asked for.
  const isFirstShown = ordered !== undefined
  useEffect(() => {
    if (isFirstShown) onShown()
  }, [isFirstShown, onShown])
  useEffect(() => {
    if (isFirstShown && hasNextPage && !isFetching && !error) void fetchNextPage()
  }, [isFirstShown, hasNextPage, isFetching, error, fetchNextPage])
  const openView = views.find(({ member }) => member.user.id === open)
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
  // The same function at each rendering: rows are rendered again only when something of them changes.
  const show = useCallback(
    (user: number) => {
      setOpen(user)
      if (isFiltered) setUsed(user)
    },
    [isFiltered],
  )
  const count = hasNextPage ? t('members.table') : countOf(found.length)
  return (
    <>
      <QueryState query={{ error: query.error, isPending: query.isPending || !isReady }} />
      {ordered && ordered.length > 0 && (
        <div className="bar member-bar">
          <StateFilter views={hasNextPage ? undefined : views} types={types} chosen={chosen} onChoose={filterBy} />
          {ordered.length >= minForFilter && (
            <search className="member-search">
              <label htmlFor={field} className="visually-hidden">
                {t('members.filter')}
              </label>
              <Icon path={search} size={18} />
              <input
                id={field}
                type="search"
                value={wanted}
                placeholder={t('members.filter')}
                onChange={({ target }) => find(target.value)}
              />
            </search>
          )}
        </div>
      )}
      {ordered && isLive === false && <p className="hint">{t('live.notLive')}</p>}
      {ordered && ordered.length === 0 && <p className="empty">{t('members.none')}</p>}
      {ordered && ordered.length > 0 && (
        <MemberRows
          members={ordered}
          states={states}
          shown={shown}
          types={types}
          count={count}
          below={below}
          onSort={sort}
          onOpen={show}
        />
      )}
      {isFiltered && found.length === 0 && <p className="member-none">{t('members.noMatch')}</p>}
      <NextPageButton query={query} />
      {openView && (
        <MemberSheet
          groupId={id}
          view={openView}
          types={types}
          isOff={isOff}
          isReadOnly={isReadOnly}
          isEnded={isEnded}
          onClose={() => setOpen(undefined)}
        />
      )}
    </>
  )
}

interface Order {
  /** Undefined until rows may be shown. */
  readonly order: ClassOrder | undefined
  /** How many members need the teacher, and are below one who does not. */
  readonly below: number
  /** Puts those first. */
  sort(): void
}

/**
 * The order of rows. It is made once, as soon as states are known or have kept the rows waiting, and then kept.
 * @param views undefined until members are known @param isTold whether all states are known, or will not be
 */
function useClassOrder(views: readonly MemberView[] | undefined, isTold: boolean): Order {
  const [order, setOrder] = useState<ClassOrder>()
  const isKnown = views !== undefined
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isKnown) return
    const timer = setTimeout(() => setLate(true), maxWait)
    return () => clearTimeout(timer)
  }, [isKnown])
  const next = views && (isTold || isLate || order) ? keptOrder(order ?? orderOf(views), views) : undefined
  // React's way to derive state from props: the rendering begins again at once.
  if (next && next !== order) setOrder(next)
  const below = useMemo(() => (next && views ? countBelow(next, views) : 0), [next, views])
  const sort = useCallback(() => views && setOrder(orderOf(views)), [views])
  return { order: next, below, sort }
}

/**
 * Says what a change of the filter, or of who is a member, has led to, once; and nothing when rows change by
 * themselves.
 */
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

const pathOf = (id: string) => endpoints.groupEvents.path.replace('{id}', encodeURIComponent(id))

/**
 * The present states of a group's members; updated while the page is visible. Without the stream pages show the list
 * alone.
 */
function useMemberStates(id: string): MemberStates {
  const changed = useMembersChanged(id)
  const [store] = useState(
    () =>
      new MemberStatesStore({
        open: (lastId, signal) => openStream(pathOf(id), lastId, signal),
        whileVisible,
        // Who accepts an invitation is a member, and no longer among the invitations.
        onChanged: () => void changed(),
      }),
  )
  return useSyncExternalStore(store.subscribe, store.get)
}
