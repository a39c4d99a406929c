import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Listed } from '#/admin/table/columns.ts'
import { Options } from '#/components/field.tsx'
import { areShortcutsOn } from '#/shortcuts/shortcuts.ts'
import type { Rows } from './use-rows.ts'
import { isFiltered, type View } from './view.ts'

/** A filter with fixed options. */
export interface Choice {
  readonly name: string
  readonly label: string
  /** The first option is "any". */
  readonly options: readonly (readonly [value: string, label: string])[]
}

interface ToolbarProps {
  searchLabel: string
  choices: readonly Choice[]
  view: View
  onSearch(text: string): void
  onChoose(name: string, value: string): void
  onClear(): void
  list: Rows<Listed>
  /** The number of matches, announced when it changes. */
  found: string
  /** Further actions of this page. */
  children?: ReactNode
}

/** Search, filters, number of rows, and refresh. */
export function Toolbar({ list, view, found, children, ...props }: ToolbarProps) {
  const t = useTranslations('admin.table')
  return (
    <div className="table-tools">
      <search className="table-filters" aria-label={t('filters')}>
        <SearchField label={props.searchLabel} value={view.q ?? ''} onSearch={props.onSearch} />
        {props.choices.map((choice) => (
          <Select key={choice.name} choice={choice} value={view[choice.name] ?? ''} onChoose={props.onChoose} />
        ))}
        {isFiltered(view) && (
          <button
            type="button"
            className="button small"
            onClick={({ currentTarget }) => {
              // The button goes away, and the focus would go with it.
              currentTarget.parentElement?.querySelector('input')?.focus()
              props.onClear()
            }}
          >
            {t('clearFilters')}
          </button>
        )}
      </search>
      <div className="table-side">
        <Count list={list} />
        <p role="status" className="visually-hidden">
          {list.isLoading || list.isStale ? '' : found}
        </p>
        <button
          type="button"
          className="button small"
          aria-disabled={list.isRefreshing}
          onClick={() => list.isRefreshing || list.refresh()}
        >
          {list.isRefreshing ? t('refreshing') : t('refresh')}
        </button>
        {children}
      </div>
    </div>
  )
}

function Count({ list: { rows, total, isLoading, error } }: { list: Rows<Listed> }) {
  const t = useTranslations('admin.table')
  const loaded = rows.length
  if (loaded === 0 && error !== undefined) return null
  return (
    <p className="table-count" data-loaded={isLoading ? undefined : loaded} data-total={total}>
      {isLoading
        ? t('loading')
        : total === undefined
          ? t('countOpen', { loaded })
          : // A user may have been added since the count.
            t('count', { loaded, total: Math.max(total, loaded) })}
    </p>
  )
}

interface SelectProps {
  choice: Choice
  value: string
  onChoose(name: string, value: string): void
}

function Select({ choice: { name, label, options }, value, onChoose }: SelectProps) {
  return (
    <select
      aria-label={label}
      className={value === '' ? 'filter' : 'filter is-on'}
      value={value}
      onChange={(event) => onChoose(name, event.target.value)}
    >
      <Options of={options} />
    </select>
  )
}

/** A filter with three options: all rows, those with a property, and those without; with a label for each. */
export function yesNoFilter(name: string, label: string, all: string, yes: string, no: string): Choice {
  const options = [
    ['', all],
    ['true', yes],
    ['false', no],
  ] as const
  return { name, label, options }
}

/** The filter of blocked rows. */
export function useBlockedFilter(): Choice {
  const t = useTranslations('admin.table.blockedFilter')
  return yesNoFilter('is_blocked', t('label'), t('any'), t('blocked'), t('notBlocked'))
}

interface SearchFieldProps {
  label: string
  /** The current search; may change from outside, by the back button or a link. */
  value: string
  onSearch(text: string): void
}

/** Debounce in ms. */
const debounceMs = 200

/** Searches while the user types. `/` focuses the field from outside text fields, unless keyboard shortcuts are off. */
function SearchField({ label, value, onSearch }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(value)
  const [lastValue, setLastValue] = useState(value)
  const search = useRef(onSearch)
  useEffect(() => {
    search.current = onSearch
  })

  // The value changed from outside.
  if (value !== lastValue) {
    setLastValue(value)
    if (value !== text.trim()) setText(value)
  }

  useEffect(() => {
    if (text.trim() === lastValue) return
    const timer = setTimeout(() => search.current(text.trim()), debounceMs)
    return () => clearTimeout(timer)
  }, [text, lastValue])

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return
      if (isWriting(event.target) || !areShortcutsOn()) return
      event.preventDefault()
      field.current?.focus()
      field.current?.select()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])

  return (
    <input
      ref={field}
      type="search"
      className="search"
      aria-label={label}
      placeholder={label}
      aria-keyshortcuts="/"
      autoComplete="off"
      spellCheck={false}
      maxLength={254}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  )
}

/** Keys belong to text fields, menus and dialogs. */
const isWriting = (target: EventTarget | null) =>
  target instanceof Element &&
  target.closest('input:not([type="checkbox"]), textarea, select, dialog, [role="menu"]') !== null
