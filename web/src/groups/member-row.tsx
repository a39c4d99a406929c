import { memo, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@berth/api/endpoints.ts'
import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmActions, Dialog } from '#/components/dialog.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTask } from '#/components/use-task.ts'
import { useAnnounce } from './announcements.tsx'
import { MemberContainer, type GroupTexts } from './member-container.tsx'
import { memberView, type Launchables } from './member-view.ts'
import { useMembersChanged } from './use-members.ts'

/** What a row shows, and what its viewer may do. */
export interface MemberRowProps {
  t: GroupTexts
  groupId: string
  member: Member
  /** Undefined while the stream has not said it. */
  state: MemberState | undefined
  types: Launchables
  isOff: boolean
  isReadOnly: boolean
  /** Nothing of the group is started any more. */
  isEnded: boolean
}

/**
 * In a row: a member with role, presence and containers of the group's types. Rendered again only when something of it
 * changes.
 */
export const MemberRow = memo(function MemberRow({
  t,
  groupId,
  member,
  state,
  types,
  isOff,
  isReadOnly,
  isEnded,
}: MemberRowProps) {
  const [isOpen, setOpen] = useState(false)
  const { isHere, containers } = memberView(member, state, types)
  const { email } = member.user
  const mayAskToLook = (type: string) =>
    email !== boot.email && types.some((each) => each.type === type && each.may_ask_to_look)
  return (
    <>
      <div className="member-main">
        <h2 className="address" tabIndex={-1}>
          {email}{' '}
          <span className="member-badges">
            {member.role === 'manager' && <span className="badge">{t('members.role.manager')}</span>}{' '}
            {isHere === true && <StatusBadge tone="good" word={t('live.isHere')} />}
          </span>
        </h2>
        <ul className="member-containers">
          {containers.length === 0 && <li className="hint">{t('members.containers.none')}</li>}
          {containers.map((each) => (
            <MemberContainer
              key={each.type}
              t={t}
              groupId={groupId}
              user={member.user}
              container={each}
              isOff={isOff}
              isEnded={isEnded}
              mayAskToLook={mayAskToLook(each.type)}
            />
          ))}
        </ul>
      </div>
      {!isReadOnly && (
        <details className="member-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>
            <ShortLabel text={t('members.moreActions')} name={t('members.moreActionsOf', { email })} />
          </summary>
          {isOpen && <MembershipActions groupId={groupId} member={member} isOff={isOff} />}
        </details>
      )}
    </>
  )
})

interface MembershipActionsProps {
  groupId: string
  member: Member
  isOff: boolean
}

/** What a manager can do with a membership. */
function MembershipActions({ groupId, member, isOff }: MembershipActionsProps) {
  const t = useTranslations('groups.members')
  const { busy, error, run } = useTask()
  const [asks, setAsks] = useState<'remove' | 'giveUp'>()
  const changed = useMembersChanged(groupId)
  const announce = useAnnounce()
  const { email, id } = member.user
  const other = member.role === 'manager' ? 'member' : 'manager'
  /** An administrator can take it again. */
  const isGivenUp = other === 'member' && email === boot.email && !boot.isAdmin

  function setRole() {
    void run(async (signal) => {
      const body: Body<'addMembers'> = { emails: [email], role: other }
      await createApiClient(signal).addMembers({ params: { id: groupId }, body })
      announce(other === 'manager' ? t('isManager', { email }) : t('isMember', { email }))
      await changed()
    })
  }
  function remove() {
    void run(async (signal) => {
      const params = { id: groupId, user_id: String(id) }
      announce((await createApiClient(signal).removeMember({ params })).message)
      await changed()
    })
  }
  const [label, labelThis] =
    other === 'manager'
      ? [t('makeManager'), t('makeManagerThis', { email })]
      : [t('makeMember'), t('makeMemberThis', { email })]
  return (
    <div>
      <div className="member-actions">
        <Button variant="small" isOff={isOff || busy} onPress={isGivenUp ? () => setAsks('giveUp') : setRole}>
          <ShortLabel text={label} name={labelThis} />
        </Button>
        <Button variant="small" isOff={isOff || busy} onPress={() => setAsks('remove')}>
          <ShortLabel text={t('remove')} name={t('removeThis', { email })} />
        </Button>
      </div>
      <Alert error={error} />
      {asks && (
        <Dialog
          title={asks === 'remove' ? t('ask.title', { email }) : t('askOwn.title')}
          onClose={() => setAsks(undefined)}
        >
          {(close) => (
            <>
              <p>{asks === 'remove' ? t('ask.effect') : t('askOwn.effect')}</p>
              <ConfirmActions
                cancel={t('ask.cancel')}
                confirm={asks === 'remove' ? t('remove') : label}
                close={close}
                onConfirm={asks === 'remove' ? remove : setRole}
              />
            </>
          )}
        </Dialog>
      )}
    </div>
  )
}
