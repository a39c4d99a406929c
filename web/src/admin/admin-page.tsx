import type { UseQueryResult } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { isUnreachable } from '#/api/errors.ts'
import { Alert } from '#/components/alert.tsx'
import { Page, type PageProps } from '#/page/page.tsx'
import { useMe } from '#/session/use-me.ts'
import { AdminNav } from './admin-nav.tsx'
import { useInstants } from './instants.tsx'

type AdminPageProps = Pick<PageProps, 'title' | 'state' | 'actions' | 'children'>

/**
 * The frame of an administration page. A user who is no administrator sees "Access denied": the server refuses them
 * everything else anyway.
 */
export function AdminPage({ title, state, actions, children }: AdminPageProps) {
  const t = useTranslations('admin.shell')
  const me = useMe()
  const isForbidden = me !== undefined && !me.is_admin
  return (
    <Page
      title={title}
      width="full"
      nav={<AdminNav />}
      state={isForbidden ? undefined : state}
      actions={isForbidden ? undefined : actions}
    >
      {isForbidden ? <p className="note">{t('forbidden')}</p> : children}
    </Page>
  )
}

interface QueryErrorProps {
  query: Pick<UseQueryResult, 'error' | 'data' | 'dataUpdatedAt' | 'isPending'>
}

/**
 * Why content is missing or out of date; the query is retried automatically. The frame of every page says that Berth
 * cannot be reached, so this does not.
 */
export function QueryError({ query }: QueryErrorProps) {
  const t = useTranslations('admin.overview')
  const instants = useInstants()
  const { error, data, dataUpdatedAt, isPending } = query
  const isOffline = error !== null && isUnreachable(error)
  return (
    <>
      <Alert error={isOffline ? undefined : (error ?? undefined)} />
      {error !== null && data !== undefined && (
        <p className="hint">{t('stale', { time: instants.time(new Date(dataUpdatedAt)) })}</p>
      )}
      {data === undefined && (isPending || isOffline) && <p className="hint pending">{t('loading')}</p>}
    </>
  )
}
