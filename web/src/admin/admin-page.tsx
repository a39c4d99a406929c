import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page/page.tsx'
import { useMe } from '#/session/use-me.ts'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'

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
