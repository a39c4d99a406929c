import { useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { inBatches } from '../bulk/run-bulk.ts'
import { BulkDialog } from '../bulk/bulk-dialog.tsx'
import { DataTable } from '../table/data-table.tsx'
import { focusRows } from '../table/use-row-focus.ts'
import type { ListKind } from './list-kind.ts'
import type { Listed } from '../table/columns.ts'
import { countOf, allSelected, isSelected, noneSelected, type Selection } from '../bulk/selection.ts'
import { SelectionBar } from '../bulk/selection-bar.tsx'
import { bulkTargetsOf } from '../bulk/bulk-targets.ts'
import type { Rows } from './use-rows.ts'
import { addressOf, filterOf, type View } from './view.ts'
import { useBulkJobs } from '../bulk/bulk-jobs.tsx'

interface SelectableRowsProps<R extends Listed> {
  kind: ListKind<R>
  view: View
  list: Rows<R>
  onSort(sort: string | undefined): void
  /** Shown after the last row. */
  children: ReactNode
}

/**
 * The rows of a list, their selection, and the bulk actions. The selection is state of this component, so that the
 * toolbar does not render for each selected row.
 */
export function SelectableRows<R extends Listed>({ kind, view, list, onSort, children }: SelectableRowsProps<R>) {
  // A selection belongs to its filter: rows that are no longer shown must not be blocked.
  const filter = addressOf('', filterOf(view))
  const [selected, setSelected] = useState({ filter, selection: noneSelected })
  if (selected.filter !== filter) setSelected({ filter, selection: noneSelected })
  const select = (selection: Selection) => setSelected({ filter, selection })
  return (
    <>
      <DataTable<R>
        className={kind.className}
        caption={kind.text.caption}
        columns={kind.columns}
        list={list}
        sort={view.sort}
        onSort={onSort}
        selection={selected.selection}
        onSelect={select}
        nameOf={(row) => kind.targetOf(row).name}
        actionsOf={kind.actionsOf}
      >
        {children}
      </DataTable>
      <Bulk kind={kind} view={view} list={list} selection={selected.selection} onSelect={select} />
    </>
  )
}

interface BulkProps<R extends Listed> {
  kind: ListKind<R>
  view: View
  list: Rows<R>
  selection: Selection
  onSelect(selection: Selection): void
}

/** The selection bar, the confirmation, and the start of the job. */
function Bulk<R extends Listed>({ kind, view, list, selection, onSelect }: BulkProps<R>) {
  const t = useTranslations('admin.table')
  const { isBusy, start } = useBulkJobs()
  const [asked, setAsked] = useState<boolean>()
  const total = list.total ?? list.rows.length
  const count = countOf(
    selection,
    total,
    list.rows.map(({ id }) => id),
  )
  if (count === 0 || isBusy) return null

  function begin(wanted: boolean) {
    const chosen = list.rows.filter(({ id }) => isSelected(selection, id) && !kind.isLeftOut(id)).map(kind.targetOf)
    const targets =
      selection.kind === 'some'
        ? inBatches(chosen)
        : bulkTargetsOf(kind, filterOf(view), (id) => isSelected(selection, id))
    start({ kind: kind.bulk, targets, total: selection.kind === 'some' ? chosen.length : count, wanted })
    onSelect(noneSelected)
  }
  return (
    <>
      <SelectionBar
        text={kind.text.selected(count)}
        rest={selection.kind === 'some' && count >= list.rows.length && total > count ? total : undefined}
        isOff={isBusy}
        onAll={() => onSelect(allSelected)}
        onClear={() => {
          onSelect(noneSelected)
          focusRows()
        }}
        onBlock={() => setAsked(true)}
        onUnblock={() => setAsked(false)}
      />
      {asked !== undefined && (
        <BulkDialog
          title={kind.text.bulkTitle(asked, count)}
          lines={kind.text.bulkLines(asked)}
          confirm={asked ? t('block') : t('unblock')}
          onConfirm={() => begin(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
