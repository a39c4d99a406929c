import { useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { go, goInstead } from '#/place.ts'
import { inBatches } from './bulk.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { DataTable } from './data-table.tsx'
import { focusRows } from './focus-rows.ts'
import type { ListKind } from './list-kind.ts'
import type { Listed } from './row.ts'
import { countOf, everything, isSelected, nothing, type Selection } from './selection.ts'
import { SelectionBar } from './selection-bar.tsx'
import { targetsOf } from './targets.ts'
import { Toolbar } from './toolbar.tsx'
import { useRows } from './use-rows.ts'
import { addressOf, filterOf, isFiltered, type View } from './view.ts'
import { useWork } from './work.tsx'

interface ListPageProps<R extends Listed> {
  kind: ListKind<R>
  view: View
  /** What else can be done on this page. */
  children?: ReactNode
}

/** A list with its search, filters and selection. */
export function ListPage<R extends Listed>({ kind, view, children }: ListPageProps<R>) {
  const list = useRows(kind.source, view)
  // What is selected belongs to what is looked for: nothing may be blocked that nobody sees any more.
  const filter = addressOf('', filterOf(view))
  const [selected, setSelected] = useState({ filter, selection: nothing })
  if (selected.filter !== filter) setSelected({ filter, selection: nothing })
  const select = (selection: Selection) => setSelected({ filter, selection })
  const show = (next: View) => go(addressOf(kind.path, next))

  return (
    <>
      <Toolbar
        searchLabel={kind.words.search}
        choices={kind.choices}
        view={view}
        // Not a step of its own for the way back for each key.
        onSearch={(q) => goInstead(addressOf(kind.path, { ...view, q }))}
        onChoose={(name, value) => show({ ...view, [name]: value })}
        onClear={() => show({ sort: view.sort })}
        list={list}
        found={kind.words.found(list.total ?? 0)}
      >
        {children}
      </Toolbar>
      <FirstPage list={list} />
      {list.rows.length > 0 && (
        <DataTable<R>
          className={kind.className}
          caption={kind.words.caption}
          columns={kind.columns}
          list={list}
          sort={view.sort}
          onSort={(sort) => show({ ...view, sort })}
          selection={selected.selection}
          onSelect={select}
          nameOf={(row) => kind.targetOf(row).name}
          actionsOf={kind.actionsOf}
        >
          <NextPage list={list} />
        </DataTable>
      )}
      {!list.isLoading && list.error === undefined && list.rows.length === 0 && !list.hasMore && (
        <Nothing words={isFiltered(view) ? kind.words.nothing : kind.words.none} />
      )}
      <Bulk kind={kind} view={view} list={list} selection={selected.selection} onSelect={select} />
    </>
  )
}

type List<R extends Listed> = ReturnType<typeof useRows<R>>

function FirstPage<R extends Listed>({ list: { isLoading, rows, error, refresh } }: { list: List<R> }) {
  const t = useTranslations('admin.table')
  if (isLoading) return <div className="table-placeholder" aria-hidden />
  return (
    <>
      <Alert error={rows.length === 0 ? error : undefined} />
      {error !== undefined && rows.length === 0 && (
        <div className="actions">
          <Button onPress={refresh}>{t('tryAgain')}</Button>
        </div>
      )}
    </>
  )
}

function NextPage<R extends Listed>({ list: { error, isLoadingMore, loadMore, hasMore } }: { list: List<R> }) {
  const t = useTranslations('admin.table')
  if (error !== undefined)
    return (
      <p className="alert with-action" role="alert">
        {t('moreFailed')}
        <Button look="small" onPress={loadMore}>
          {t('tryAgain')}
        </Button>
      </p>
    )
  return hasMore ? <p className="hint table-end">{isLoadingMore ? t('loadingMore') : ''}</p> : null
}

function Nothing({ words: [title, hint] }: { words: readonly [string, string] }) {
  return (
    <div className="table-nothing">
      <p>
        <strong>{title}</strong>
      </p>
      <p className="hint">{hint}</p>
    </div>
  )
}

interface BulkProps<R extends Listed> {
  kind: ListKind<R>
  view: View
  list: List<R>
  selection: Selection
  onSelect(selection: Selection): void
}

/** The bar of the selection, the question before it is done, and the start of it. */
function Bulk<R extends Listed>({ kind, view, list, selection, onSelect }: BulkProps<R>) {
  const t = useTranslations('admin.table')
  const { isBusy, start } = useWork()
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
      selection.kind === 'some' ? inBatches(chosen) : targetsOf(kind, filterOf(view), (id) => isSelected(selection, id))
    start({ kind: kind.bulk, targets, total: selection.kind === 'some' ? chosen.length : count, wanted })
    onSelect(nothing)
  }
  return (
    <>
      <SelectionBar
        words={kind.words.selected(count)}
        rest={selection.kind === 'some' && count >= list.rows.length && total > count ? total : undefined}
        isOff={isBusy}
        onAll={() => onSelect(everything)}
        onClear={() => {
          onSelect(nothing)
          focusRows()
        }}
        onBlock={() => setAsked(true)}
        onUnblock={() => setAsked(false)}
      />
      {asked !== undefined && (
        <BulkDialog
          title={kind.words.bulkTitle(asked, count)}
          lines={kind.words.bulkLines(asked)}
          confirm={asked ? t('block') : t('unblock')}
          onConfirm={() => begin(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
