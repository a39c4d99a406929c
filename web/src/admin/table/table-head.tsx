import { useTranslations } from 'use-intl/react'
import type { Header } from '@tanstack/react-table'
import type { Features, Listed } from './columns.ts'

interface TableHeadProps<R extends Listed> {
  headers: readonly Header<Features, R, unknown>[]
  /** Whether all loaded rows are selected, some, or none. */
  selected: 'all' | 'some' | 'none'
  onSelectAll(isOn: boolean): void
}

/** The header row: names of the columns, and buttons that sort. */
export function TableHead<R extends Listed>({ headers, selected, onSelectAll }: TableHeadProps<R>) {
  const t = useTranslations('admin.table')
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        <th role="columnheader" className="select-cell">
          <label className="select-box">
            <input
              type="checkbox"
              aria-label={t('selectLoaded')}
              checked={selected === 'all'}
              ref={(box) => {
                if (box) box.indeterminate = selected === 'some'
              }}
              onChange={(event) => onSelectAll(event.target.checked)}
            />
          </label>
        </th>
        {headers.map((header) => (
          <HeadCell key={header.id} header={header} />
        ))}
        <th role="columnheader" className="menu-cell">
          <span className="visually-hidden">{t('actions')}</span>
        </th>
      </tr>
    </thead>
  )
}

const ariaSort = { asc: 'ascending', desc: 'descending' } as const

function HeadCell<R extends Listed>({ header: { column } }: { header: Header<Features, R, unknown> }) {
  const label = column.columnDef.meta?.label
  const sorted = column.getIsSorted()
  if (!column.getCanSort())
    return (
      <th role="columnheader" className="plain">
        {label}
      </th>
    )
  return (
    <th role="columnheader" aria-sort={sorted === false ? 'none' : ariaSort[sorted]}>
      <button type="button" className="sort" onClick={column.getToggleSortingHandler()}>
        {label}
        <span className={`arrow ${sorted === false ? '' : sorted}`} aria-hidden />
      </button>
    </th>
  )
}
