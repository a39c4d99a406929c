import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { problemIn } from '#/api/errors.ts'
import { Alert } from '#/components/alert.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/page/page.tsx'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import { useMe } from '#/session/use-me.ts'
import { useInstants } from './instants.tsx'

/**
 * The frame of an administration page. A user who is no administrator sees "Access denied": the server refuses them
 * everything else anyway.
 */
export function AdminPage({ title, children }: { title: string; children: ReactNode }) {
  const t = useTranslations('admin.shell')
  const me = useMe()
  const isForbidden = me !== undefined && !me.is_admin
  return (
    <Page title={title} width="full" nav={<AdminNav />}>
      {isForbidden ? <p className="note">{t('forbidden')}</p> : children}
    </Page>
  )
}

function AdminNav() {
  const t = useTranslations('admin.shell')
  const { path } = useLocation()
  const links = [
    [pages.admin, t('overview')],
    [pages.adminUsers, t('users')],
    [pages.adminContainers, t('containers')],
    [pages.adminGroups, t('groups')],
    [pages.adminTemplates, t('templates')],
    ...(boot.hasEnvironments ? ([[pages.environments, t('environments')]] as const) : []),
    [pages.adminUsage, t('usage')],
    [pages.adminAudit, t('audit')],
    [pages.adminTokens, t('tokens')],
    [pages.adminSystem, t('system')],
  ] as const
  return (
    <nav aria-label={t('nav')}>
      <ul className="admin-nav">
        {links.map(([to, text]) => (
          <li key={to}>
            <Link to={to} isCurrent={path === to || (to === pages.adminGroups && path === pages.adminTermEnd)}>
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
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

const isUnreachable = (error: unknown) => {
  const problem = problemIn(error)
  return 'key' in problem && problem.key === 'unreachable'
}
