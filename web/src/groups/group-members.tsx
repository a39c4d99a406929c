import { useCallback, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, canAct } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { groups } from '#/messages/groups.ts'
import { Page } from '#/page/page.tsx'
import { pages } from '#/paths.ts'
import { useLocation } from '#/router/router.ts'
import './groups.css'
import { Announcements } from './announcements.tsx'
import { GroupActions } from './group-actions.tsx'
import { InvitationList } from './invitation-list.tsx'
import { MemberList } from './member-list.tsx'
import type { Launchables } from './member-view.ts'
import { hasEnded, providerOf, useManagedGroup, useMembers, usePrefetchedGroup } from './use-members.ts'

const noTypes: Launchables = []

/** The page of who manages a group: its members, their containers of its types, and ways in. */
export const GroupMembers = withTexts({ groups }, function GroupMembersPage() {
  const id = useLocation().query.get('group') ?? ''
  return id === '' ? <NoGroup /> : <Group key={id} id={id} />
})

function NoGroup() {
  const t = useTranslations('groups.members')
  return (
    <Page title={t('title')}>
      <p>{t('noGroup')}</p>
      <p>
        <Link to={pages.groups}>{t('back')}</Link>
      </p>
    </Page>
  )
}

function Group({ id }: { id: string }) {
  const t = useTranslations('groups.members')
  usePrefetchedGroup(id)
  const { data: managed, error } = useManagedGroup(id)
  const members = useMembers(id)
  const [isShown, setShown] = useState(false)
  const onShown = useCallback(() => setShown(true), [])
  // In a takeover the administrator has no rights of a manager.
  const isOff = !canAct() || boot.acting !== null
  const provider = managed && providerOf(managed.group)
  return (
    <Page
      title={managed ? t('of', { name: managed.group.name }) : t('title')}
      width="full"
      state={<Facts endsAt={managed?.group.expires_at ?? null} />}
      isLoading={!error && !members.error && !isShown}
    >
      <div className="group-page">
        <Alert error={error ?? undefined} />
        {provider !== undefined && <p className="hint">{t('provider', { source: provider })}</p>}
        {managed && <GroupActions managed={managed} isOff={isOff} isReadOnly={provider !== undefined} />}
        {!error && (
          <Announcements>
            <MemberList
              id={id}
              query={members}
              types={managed?.types ?? noTypes}
              isReady={managed !== undefined}
              isOff={isOff}
              isReadOnly={provider !== undefined}
              isEnded={managed !== undefined && hasEnded(managed.group)}
              onShown={onShown}
            />
          </Announcements>
        )}
        {managed && provider === undefined && <InvitationList id={id} isOff={isOff} />}
      </div>
    </Page>
  )
}

/** Ways to other pages, which are there from the start and do not move when the name and the end are known. */
function Facts({ endsAt }: { endsAt: string | null }) {
  const t = useTranslations('groups.members')
  return (
    <ul className="group-facts">
      {endsAt && <li>{t.rich('ends', { at: rich.time(endsAt) })}</li>}
      <li>
        <Link to={boot.isAdmin ? pages.adminGroups : pages.groups}>{t('back')}</Link>
      </li>
      {boot.hasEnvironments && (
        <li>
          <Link to={pages.environments}>{t('environments')}</Link>
        </li>
      )}
    </ul>
  )
}
