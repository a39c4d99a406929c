import {
  memo,
  useDeferredValue,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
  type FocusEvent,
  type RefObject,
} from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { endpoints } from '@berth/api/endpoints.ts'
import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { openStream } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { whileVisible } from '#/events/event-store.ts'
import { rewriteQuery, useLocation } from '#/router/router.ts'
import { useAnnounce } from './announcements.tsx'
import { MemberRow, type MemberRowProps } from './member-row.tsx'
import { MemberStatesStore, type MemberStates } from './member-states-store.ts'
import { filters, matches, memberView, type Filter, type Launchables, type MemberView } from './member-view.ts'
import { useMembersChanged, type useMembers } from './use-members.ts'

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

/**
 * Members by address, managers first, each with what the stream reports of their containers; rows stay where they are.
 */
export function MemberList({ id, query, types, isReady, isOff, isReadOnly, isEnded }: MemberListProps) {
  const t = useTranslations('groups')
  const field = useId()
  const { states, isLive } = useMemberStates(id)
  const { wanted, chosen, text, filter, want, choose } = useListFilter()
  /**
   * The row that was used last, by its member. It stays although the filter no longer finds it, as after a restart of
   * what failed.
   */
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

const byRoleAndAddress = (one: Member, other: Member) =>
  Number(other.role === 'manager') - Number(one.role === 'manager') || one.user.email.localeCompare(other.user.email)

/**
 * Rows that are made at once, more than a screen has, and in each step after that: a fifth of a second on a cheap
 * phone.
 */
const [firstScreen, step] = [20, 140]

interface MemberRowsProps extends Omit<MemberRowProps, 't' | 'member' | 'state'> {
  members: readonly Member[]
  /** By id as a user. */
  states: ReadonlyMap<number, MemberState>
  /** Ids of those that the filters leave. */
  shown: ReadonlySet<number>
  /** A control in the row of this member was pressed, or has the focus. */
  onUse: ((id: number) => void) | undefined
}

/**
 * A row for each member. All are in the document, where assistive technology and the browser's search reach them; the
 * browser lays out those on the screen (`content-visibility`). What a filter leaves out is hidden and not removed:
 * making 300 rows again takes longer than a press may.
 */
const MemberRows = memo(function MemberRows({ members, states, shown, onUse, ...more }: MemberRowsProps) {
  const t = useTranslations('groups')
  const list = useRef<HTMLUListElement>(null)
  const keepFocus = useFocusInRows(list)
  const count = useSteps(members.length)
  return (
    <ul ref={list} className="rows member-rows" {...keepFocus}>
      {members.slice(0, count).map((member) => (
        <li
          key={member.user.id}
          className="row member-row"
          hidden={!shown.has(member.user.id)}
          onFocusCapture={() => onUse?.(member.user.id)}
          // Safari gives a button that is pressed no focus.
          onClickCapture={() => onUse?.(member.user.id)}
        >
          <MemberRow {...more} t={t} member={member} state={states.get(member.user.id)} />
        </li>
      ))}
    </ul>
  )
})

/** How many rows are made by now. In steps: a rendering in the background yields to a frame after every few rows. */
function useSteps(total: number): number {
  const [count, setCount] = useState(firstScreen)
  useEffect(() => {
    if (count >= total) return
    const timer = setTimeout(() => setCount(count + step))
    return () => clearTimeout(timer)
  }, [count, total])
  return count
}

interface StateFilterProps {
  /** Undefined while members are still loaded: a number of some of them would pass for all. */
  views: readonly MemberView[] | undefined
  chosen: Filter
  onChoose(filter: Filter): void
}

/** How many members are here, wait, have failed or are blocked; each number shows these members alone. */
function StateFilter({ views, chosen, onChoose }: StateFilterProps) {
  const t = useTranslations('groups.live')
  const format = useFormatter()
  const countOf = (filter: Filter) =>
    views === undefined ? '…' : format.number(views.filter((each) => matches(each, filter)).length)
  return (
    <div className="state-filter" role="group" aria-label={t('filter')}>
      {filters.map((filter) => (
        <button
          key={filter}
          type="button"
          className={`button small filter-${filter}`}
          aria-pressed={filter === chosen}
          onClick={() => onChoose(filter)}
        >
          {t(filter, { count: countOf(filter) })}
        </button>
      ))}
    </div>
  )
}

/** Between a key and its place in the address, in ms: browsers refuse more than some changes a second. */
const delay = 300

/** Which members are shown, as the address says it: a reload, and a link to it, show the same. */
interface ListFilter {
  /** What the field and the buttons show. */
  readonly wanted: string
  readonly chosen: Filter
  /** What the rows follow: they take longer than a frame, in a rendering that field and buttons interrupt. */
  readonly text: string
  readonly filter: Filter
  want(text: string): void
  choose(filter: Filter): void
}

/** The filter of this page's address, and its changes. */
function useListFilter(): ListFilter {
  const { query } = useLocation()
  const [wanted, want] = useState(() => query.get('find') ?? '')
  const [chosen, choose] = useState<Filter>(() => filters.find((each) => each === query.get('show')) ?? 'all')
  useEffect(() => {
    rewriteQuery({ show: chosen === 'all' ? '' : chosen })
  }, [chosen])
  useEffect(() => {
    const timer = setTimeout(() => rewriteQuery({ find: wanted.trim() }), delay)
    return () => clearTimeout(timer)
  }, [wanted])
  return {
    wanted,
    chosen,
    text: useDeferredValue(wanted.trim().toLowerCase()),
    filter: useDeferredValue(chosen),
    want,
    choose,
  }
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

interface Focused {
  readonly element: Element
  /** The place of its row among all. */
  readonly index: number
}

/**
 * Keeps the focus in a list whose rows change by themselves: when the focused control or its row goes away, the heading
 * of the row takes the focus, or that of the next row. Otherwise who works with keys would be at the top of the
 * document.
 * @param list its children are rows, each with one heading that can take the focus
 * @returns handlers for the list
 */
function useFocusInRows(list: RefObject<HTMLElement | null>) {
  const last = useRef<Focused>(undefined)

  useEffect(() => {
    const rows = list.current
    if (!rows) return
    const observer = new MutationObserver(() => {
      if (!last.current || !isLost(last.current.element)) return
      const { index } = last.current
      last.current = undefined
      headingNear(rows, index)?.focus()
    })
    observer.observe(rows, { childList: true, subtree: true, attributes: true, attributeFilter: ['hidden'] })
    return () => observer.disconnect()
  }, [list])

  return {
    onFocus: ({ target, currentTarget }: FocusEvent) => {
      last.current = { element: target, index: [...currentTarget.children].findIndex((row) => row.contains(target)) }
    },
    // React tells of no blur of an element that it removes. A dialog that closes blurs before its button takes the
    // focus.
    onBlur: ({ target }: FocusEvent) => {
      if (document.activeElement !== target && target.closest('dialog') === null) last.current = undefined
    },
  }
}

/** Whether the element went away with the focus. The browser notices later that something is hidden. */
const isLost = (element: Element) =>
  !(element.isConnected && element.checkVisibility()) &&
  (document.activeElement === element || document.activeElement === document.body)

function headingNear(rows: Element, index: number): HTMLElement | undefined {
  const isShown = (row: Element | undefined): row is Element => row !== undefined && row.checkVisibility()
  const all = [...rows.children]
  const near = isShown(all[index])
    ? all[index]
    : (all.slice(index).find(isShown) ?? all.slice(0, index).findLast(isShown))
  return near?.querySelector('h2') ?? undefined
}
