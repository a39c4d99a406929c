import { useTranslations } from 'use-intl/react'
import { canAct, boot } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page/page.tsx'
import { GroupsI18nProvider } from '#/groups/groups-i18n-provider.tsx'
import { JoinForm } from '#/groups/join-form.tsx'
import { membersPath, useOwnGroups } from '#/groups/use-own-groups.ts'
import '#/styles/groups.css'

/** The user's groups, and a form for a join code. */
export function Groups() {
  return (
    <GroupsI18nProvider>
      <OwnGroupList />
    </GroupsI18nProvider>
  )
}

function OwnGroupList() {
  const t = useTranslations('groups')
  const query = useOwnGroups()
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <Alert error={query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      {query.data?.length === 0 && <p>{t('none')}</p>}
      <ul className="rows">
        {query.data?.map(({ id, name, role }) => (
          <li key={id} className="row">
            <div>
              <h2 className="address">{name}</h2>
              {role === 'manager' && <p className="hint">{t('manager')}</p>}
            </div>
            {role === 'manager' && (
              <Link to={membersPath(id)} className="button small">
                <span aria-hidden>{t('manage')}</span>
                <span className="visually-hidden">{t('manageThis', { name })}</span>
              </Link>
            )}
          </li>
        ))}
      </ul>
      {boot.acting === null && <JoinForm isOff={!canAct()} />}
    </Page>
  )
}
