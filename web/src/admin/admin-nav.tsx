import { useCallback } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'
import { Icon } from '#/components/icon.tsx'
import { Link } from '#/components/link.tsx'
import { gauge, group, key, members } from '#/icons/late-icons.ts'
import { typePaths } from '@berth/api/type-icon-paths.ts'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import './admin-nav.css'

/** The pages of the administration, each with its sign, in the order of how often they are used. */
export function AdminNav() {
  const t = useTranslations('admin.shell')
  const { path } = useLocation()
  const links = [
    [pages.admin, t('overview'), gauge],
    [pages.adminUsers, t('users'), members],
    [pages.adminContainers, t('containers'), typePaths.cube],
    [pages.adminGroups, t('groups'), group],
    [pages.adminTemplates, t('templates'), typePaths.app],
    ...(boot.hasEnvironments ? ([[pages.environments, t('environments'), typePaths.flask]] as const) : []),
    [pages.adminUsage, t('usage'), typePaths.chart],
    [pages.adminAudit, t('audit'), typePaths.page],
    [pages.adminTokens, t('tokens'), key],
    [pages.adminSystem, t('system'), typePaths.server],
  ] as const
  // In the line of a narrow window the current page may lie beyond the edge.
  const show = useCallback((list: HTMLUListElement | null) => {
    const current = list?.querySelector<HTMLElement>('[aria-current]')
    if (list && current)
      list.scrollLeft = current.offsetLeft - list.offsetLeft - (list.clientWidth - current.offsetWidth) / 2
  }, [])
  return (
    <nav aria-label={t('nav')}>
      <ul className="admin-nav" ref={show}>
        {links.map(([to, text, sign]) => (
          <li key={to}>
            <Link to={to} isCurrent={path === to || (to === pages.adminGroups && path === pages.adminTermEnd)}>
              <Icon path={sign} />
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
