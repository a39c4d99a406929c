import { useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { useBulkJobs } from '#/admin/bulk/bulk-jobs.tsx'
import { inBatches, maxBatchSize, type BulkTarget } from '#/admin/bulk/run-bulk.ts'
import { allSelected, countOf, isSelected, noneSelected, type Selection } from '#/admin/bulk/selection.ts'
import type { Listed } from '#/admin/table/columns.ts'
import { DataTable } from '#/admin/table/data-table.tsx'
import { focusRows } from '#/admin/table/use-row-focus.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Button } from '#/components/button.tsx'
import { ConfirmDialog } from '#/components/dialog.tsx'
import type { ListKind } from './list-kind.ts'
import type { Rows } from './use-rows.ts'
import { addressOf, filterOf, type View } from './view.ts'

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
        <ConfirmDialog
          title={kind.text.bulkTitle(asked, count)}
          confirm={asked ? t('block') : t('unblock')}
          onConfirm={() => begin(asked)}
          onClose={() => setAsked(undefined)}
        >
          {kind.text.bulkLines(asked).map((line) => (
            <p key={line}>{line}</p>
          ))}
        </ConfirmDialog>
      )}
    </>
  )
}

interface SelectionBarProps {
  /** The number of selected rows, as text. */
  text: string
  /** The number of matching rows, where not all of them are selected. */
  rest: number | undefined
  /** Another bulk job is running. */
  isOff: boolean
  onAll(): void
  onClear(): void
  onBlock(): void
  onUnblock(): void
}

/** The actions on all selected rows, at the bottom of the window. */
function SelectionBar({ text, rest, isOff, onAll, onClear, onBlock, onUnblock }: SelectionBarProps) {
  const t = useTranslations('admin.table')
  return (
    <section className="bottom-bar" aria-label={t('selection')}>
      <div className="bar-text">
        <p role="status">
          <strong>{text}</strong>
        </p>
        {rest !== undefined && (
          <button type="button" className="link-button" onClick={onAll}>
            {t('selectAll', { count: rest })}
          </button>
        )}
      </div>
      <div className="actions">
        <Button variant="small" isOff={isOff} onPress={onBlock}>
          {t('block')}
        </Button>
        <Button variant="small" isOff={isOff} onPress={onUnblock}>
          {t('unblock')}
        </Button>
        <Button variant="small" onPress={onClear}>
          {t('clearSelection')}
        </Button>
      </div>
    </section>
  )
}

/** Timeout of a page of a thousand rows in ms. */
const timeout = 60_000

/**
 * All matching rows, a thousand at a time, ordered by id: an action may remove a row from the filter, but never before
 * the cursor of the next page.
 * @param isWanted selects the rows to return
 */
async function* bulkTargetsOf<R extends Listed>(
  { source, targetOf, isLeftOut }: Pick<ListKind<R>, 'source' | 'targetOf' | 'isLeftOut'>,
  filter: View,
  isWanted: (id: number) => boolean,
): AsyncGenerator<readonly BulkTarget[]> {
  // Ends with its timeout, or when the consumer stops.
  const api = createApiClient(new AbortController().signal, timeout)
  let cursor: string | undefined
  do {
    const query = { ...filter, sort: 'id', limit: String(maxBatchSize), cursor }
    const { rows, next } = await source.page(api, query)
    yield rows.filter(({ id }) => isWanted(id) && !isLeftOut(id)).map(targetOf)
    cursor = next ?? undefined
  } while (cursor !== undefined)
}
