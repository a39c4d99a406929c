import { useDeferredValue, useEffect, useState } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { Icon } from '#/components/icon.tsx'
import { blocked, warning } from '#/icons/icons.ts'
import { eye, hourglass } from '#/icons/late-icons.ts'
import { rewriteQuery, useLocation } from '#/router/router.ts'
import { filters, matches, type Filter, type Launchables, type MemberView } from './member-view.ts'

interface StateFilterProps {
  /** Undefined while members are still loaded: a number of some of them would pass for all. */
  views: readonly MemberView[] | undefined
  types: Launchables
  chosen: Filter
  onChoose(filter: Filter): void
}

/** Signs of the filters; what is not here has none. */
const icons: Partial<Readonly<Record<Filter, string>>> = { failed: warning, starting: hourglass, asked: eye, blocked }

/**
 * How many members have failed, wait, were asked, are here or are blocked; each number shows these members alone. What
 * needs the teacher comes first, and is marked.
 */
export function StateFilter({ views, types, chosen, onChoose }: StateFilterProps) {
  const t = useTranslations('groups.live')
  const format = useFormatter()
  const mayAsk = types.some((each) => each.may_ask_to_look)
  return (
    <div className="state-filter" role="group" aria-label={t('filter')}>
      {filters
        .filter((filter) => filter !== 'asked' || mayAsk)
        .map((filter) => {
          const count = views?.filter((each) => matches(each, filter)).length
          const shown = count === undefined ? '…' : format.number(count)
          const icon = icons[filter]
          return (
            <button
              key={filter}
              type="button"
              className={`filter-${filter}`}
              aria-pressed={filter === chosen}
              data-none={count === 0 || undefined}
              onClick={() => onChoose(filter)}
            >
              {icon && <Icon path={icon} size={16} />}
              {filter === 'here' && <span className="presence here" />}
              <span aria-hidden>{t(filter)}</span>
              <span className="counter" aria-hidden>
                {shown}
              </span>
              <span className="visually-hidden">{t('counted', { what: t(filter), count: shown })}</span>
            </button>
          )
        })}
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
export function useListFilter(): ListFilter {
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
