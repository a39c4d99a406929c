import type { Member } from '@berth/api/schemas/groups.ts'
import type { MemberState } from '@berth/api/schemas/groups/group-page.ts'
import { memo, useState } from 'react'
import { boot } from '#/api/api-client.ts'
import { StatusBadge } from '#/components/status-badge.tsx'
import { MemberContainer, type GroupTexts } from '#/groups/live/member-container.tsx'
import { memberView, type Launchables } from '#/groups/live/member-view.ts'
import { MembershipActions } from './membership-actions.tsx'

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

/** In a row: a member with role, presence and containers of the group's types. Rendered again only when something of it changes. */
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
            <span aria-hidden>{t('members.moreActions')}</span>
            <span className="visually-hidden">{t('members.moreActionsOf', { email })}</span>
          </summary>
          {isOpen && <MembershipActions groupId={groupId} member={member} isOff={isOff} />}
        </details>
      )}
    </>
  )
})
