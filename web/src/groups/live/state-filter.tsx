import { useFormatter, useTranslations } from 'use-intl/react'
import { filters, matches, type Filter, type MemberView } from './member-view.ts'

interface StateFilterProps {
  /** Undefined while members are still loaded: a number of some of them would pass for all. */
  views: readonly MemberView[] | undefined
  chosen: Filter
  onChoose(filter: Filter): void
}

/** How many members are here, wait, have failed or are blocked; each number shows these members alone. */
export function StateFilter({ views, chosen, onChoose }: StateFilterProps) {
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
