import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { navigate, navigateReplacing } from '#/router/router.ts'
import type { ListKind } from './list-kind.ts'
import type { Listed } from '../table/columns.ts'
import { SelectableRows } from './selectable-rows.tsx'
import { Toolbar } from './toolbar.tsx'
import { useRows, type Rows } from './use-rows.ts'
import { addressOf, isFiltered, type View } from './view.ts'

interface ListPageProps<R extends Listed> {
  kind: ListKind<R>
  view: View
  /** Further actions of this page. */
  children?: ReactNode
}

/** A list with search and filters; its rows can be selected. */
export function ListPage<R extends Listed>({ kind, view, children }: ListPageProps<R>) {
  const list = useRows(kind.source, view)
  const show = (next: View) => navigate(addressOf(kind.path, next))

  return (
    <>
      <Toolbar
        searchLabel={kind.text.search}
        choices={kind.choices}
        view={view}
        // Replaces the history entry: not every key is a step for the back button.
        onSearch={(q) => navigateReplacing(addressOf(kind.path, { ...view, q }))}
        onChoose={(name, value) => show({ ...view, [name]: value })}
        onClear={() => show({ sort: view.sort })}
        list={list}
        found={kind.text.found(list.total ?? 0)}
      >
        {children}
      </Toolbar>
      <FirstPage list={list} />
      {list.rows.length > 0 && (
        <SelectableRows kind={kind} view={view} list={list} onSort={(sort) => show({ ...view, sort })}>
          <NextPage list={list} />
        </SelectableRows>
      )}
      {!list.isLoading && list.error === undefined && list.rows.length === 0 && !list.hasMore && (
        <EmptyTable text={isFiltered(view) ? kind.text.noMatch : kind.text.none} />
      )}
    </>
  )
}

function FirstPage<R extends Listed>({ list: { isLoading, rows, error, refresh } }: { list: Rows<R> }) {
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

function NextPage<R extends Listed>({ list: { error, isLoadingMore, loadMore, hasMore } }: { list: Rows<R> }) {
  const t = useTranslations('admin.table')
  if (error !== undefined)
    return (
      <p className="alert with-action" role="alert">
        {t('moreFailed')}
        <Button variant="small" onPress={loadMore}>
          {t('tryAgain')}
        </Button>
      </p>
    )
  return hasMore ? <p className="hint table-end">{isLoadingMore ? t('loadingMore') : ''}</p> : null
}

function EmptyTable({ text: [title, hint] }: { text: readonly [string, string] }) {
  return (
    <div className="table-empty">
      <p>
        <strong>{title}</strong>
      </p>
      <p className="hint">{hint}</p>
    </div>
  )
}
