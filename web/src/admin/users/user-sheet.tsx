import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import type { AdminUser, UserDetails } from '@berth/api/schemas/administration/admin.ts'
import { LatestEntries } from '#/admin/audit/latest-entries.tsx'
import { ContainerState } from '#/admin/containers/container-state.tsx'
import { DetailSheet, SheetFact, SheetPart } from '#/admin/details/detail-sheet.tsx'
import { Day, RelativeTime } from '#/admin/instants.tsx'
import { addressOf } from '#/admin/list/view.ts'
import { useQuantities } from '#/admin/quantities.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Link } from '#/components/link.tsx'
import type { RowAction } from '#/components/menu.tsx'
import { TypeName } from '#/components/type-name.tsx'
import { membersPath } from '#/groups/use-own-groups.ts'
import { pages } from '#/paths.ts'
import { ExtraDisk } from './extra-disk.tsx'
import { lastUseOf } from './user-actions.ts'
import { UserState } from './user-dialogs.tsx'

interface UserSheetProps {
  /** As the list has it; the rest is read. */
  user: AdminUser
  actions: readonly RowAction[]
  onExtraDisk(): void
  onClose(): void
}

/** Everything about one user beside the list: containers, groups, sessions, disk, and what the audit log says. */
export function UserSheet({ user, actions, onExtraDisk, onClose }: UserSheetProps) {
  const t = useTranslations('admin.users')
  const { bytes } = useQuantities()
  const { data, error } = useQuery({
    queryKey: ['admin', 'user', user.id],
    queryFn: ({ signal }) => createApiClient(signal).readUser({ params: { id: String(user.id) } }),
    staleTime: 0,
    gcTime: 0,
  })
  const measured = data?.containers.flatMap(({ home_bytes }) => home_bytes ?? [])
  return (
    <DetailSheet title={user.email} actions={actions} onClose={onClose}>
      <dl className="facts">
        <SheetFact name={t('details.state')}>
          <UserState user={user} />
          <p className="hint">{t(`stateMeanings.${user.is_blocked ? 'blocked' : user.state}`)}</p>
        </SheetFact>
        <SheetFact name={t('details.slug')}>
          <span className="path">{user.slug}</span>
        </SheetFact>
        <SheetFact name={t('details.id')}>{user.id}</SheetFact>
        <SheetFact name={t('details.created')}>
          <Day at={user.created_at} />
        </SheetFact>
        <SheetFact name={t('details.lastUsed')}>
          <RelativeTime at={lastUseOf(user)} />
        </SheetFact>
        {measured && measured.length > 0 && (
          <SheetFact name={t('details.disk')}>{bytes(measured.reduce((all, each) => all + each, 0))}</SheetFact>
        )}
        {data && <ExtraDisk details={data} onChange={onExtraDisk} />}
      </dl>
      <p>
        <Link to={addressOf(pages.adminUsage, { user: String(user.id) })}>{t('details.usage')}</Link>
      </p>
      <Alert error={error ?? undefined} />
      {!data && !error && <p className="hint pending">{t('details.loading')}</p>}
      {data && (
        <>
          <ContainersOf user={user} containers={data.containers} />
          <GroupsOf groups={data.groups} />
          <SessionsOf sessions={data.sessions} />
        </>
      )}
      <LatestEntries target={`user:${user.id}`} />
    </DetailSheet>
  )
}

function ContainersOf({ user, containers }: { user: AdminUser } & Pick<UserDetails, 'containers'>) {
  const t = useTranslations('admin.users.details')
  const { bytes } = useQuantities()
  return (
    <SheetPart title={t('containers')}>
      {containers.length === 0 ? (
        <p className="hint">{t('none')}</p>
      ) : (
        <>
          <ul className="sheet-rows">
            {containers.map((each) => (
              <li key={each.id}>
                <strong>
                  <TypeName type={each.container_type} />
                </strong>
                <ContainerState container={each} />
                <span className="hint">
                  {each.home_bytes !== undefined && `${bytes(each.home_bytes)} · `}
                  <RelativeTime at={each.last_used} />
                </span>
              </li>
            ))}
          </ul>
          <p>
            <Link to={addressOf(pages.adminContainers, { q: user.email })}>{t('all')}</Link>
          </p>
        </>
      )}
    </SheetPart>
  )
}

function GroupsOf({ groups }: Pick<UserDetails, 'groups'>) {
  const t = useTranslations('admin.users.details')
  if (groups.length === 0) return null
  return (
    <SheetPart title={t('groups')}>
      <ul className="sheet-rows">
        {groups.map(({ id, name, role }) => (
          <li key={id}>
            <Link to={membersPath(id)}>{name}</Link>
            {role === 'manager' && <span className="tag">{t('manager')}</span>}
          </li>
        ))}
      </ul>
    </SheetPart>
  )
}

/** Sessions that are named; the number says how many there are. */
const maxSessions = 5

function SessionsOf({ sessions }: Pick<UserDetails, 'sessions'>) {
  const t = useTranslations('admin.users.details')
  const more = sessions.length - maxSessions
  return (
    <SheetPart title={t('sessions')}>
      {sessions.length === 0 ? (
        <p className="hint">{t('noSessions')}</p>
      ) : (
        <ul className="sheet-rows">
          {sessions.slice(0, maxSessions).map(({ created_at, last_used, browser, taken_over_by: by }) => (
            <li key={`${created_at} ${by}`}>
              {by === null ? (browser ?? t('unknownBrowser')) : t('takenOver', { email: by })}
              <RelativeTime at={last_used} />
            </li>
          ))}
          {more > 0 && <li className="hint">{t('moreSessions', { count: more })}</li>}
        </ul>
      )}
    </SheetPart>
  )
}
