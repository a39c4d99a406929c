import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Body } from '@berth/api/endpoints.ts'
import { maxNameLength } from '@berth/api/person-names.ts'
import type { Member } from '@berth/api/schemas/groups.ts'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel, SubmitButton } from '#/components/button.tsx'
import { ConfirmDialog, Dialog } from '#/components/dialog.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTask } from '#/components/use-task.ts'
import { Announcements, useAnnounce } from './announcements.tsx'
import { MemberContainer } from './member-container.tsx'
import { nameOf, type Launchables, type MemberView } from './member-view.ts'
import { useMembersChanged } from './use-members.ts'

interface MemberSheetProps {
  groupId: string
  view: MemberView
  types: Launchables
  isOff: boolean
  /** Who is in the group is a provider's affair. */
  isReadOnly: boolean
  /** Nothing of the group is started any more. */
  isEnded: boolean
  onClose(): void
}

/** One member beside the list: containers with their reasons and actions, and the membership. */
export function MemberSheet({ groupId, view, types, isOff, isReadOnly, isEnded, onClose }: MemberSheetProps) {
  const t = useTranslations('groups')
  const { member, isHere, containers } = view
  const { email } = member.user
  /** Of the page, for what is said when this sheet is gone. */
  const announce = useAnnounce()
  const mayAskToLook = (type: string) =>
    email !== boot.email && types.some((each) => each.type === type && each.may_ask_to_look)
  return (
    <Dialog title={nameOf(member)} variant="sheet" onClose={onClose}>
      {() => (
        // What is said outside of an open dialog is not heard.
        <Announcements>
          {member.name !== null && <p className="hint address">{email}</p>}
          <p className="member-facts">
            {member.role === 'manager' && <span className="badge">{t('members.role.manager')}</span>}
            {isHere === true && <StatusBadge tone="good" word={t('live.isHere')} />}
            {isHere === false && <StatusBadge tone="idle" word={t('live.isAway')} />}
          </p>
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
          {!isReadOnly && <Membership groupId={groupId} member={member} isOff={isOff} onRemoved={announce} />}
        </Announcements>
      )}
    </Dialog>
  )
}

interface MembershipProps {
  groupId: string
  member: Member
  isOff: boolean
  /** The sheet goes with the member. @param message of the server */
  onRemoved(message: string): void
}

/** What a manager can do with a membership. */
function Membership({ groupId, member, isOff, onRemoved }: MembershipProps) {
  const t = useTranslations('groups.members')
  const { busy, error, run } = useTask()
  const [asks, setAsks] = useState<'remove' | 'giveUp'>()
  const field = useId()
  const changed = useMembersChanged(groupId)
  const announce = useAnnounce()
  const { email, id } = member.user
  const other = member.role === 'manager' ? 'member' : 'manager'
  /** An administrator can take it again. */
  const isGivenUp = other === 'member' && email === boot.email && !boot.isAdmin

  function change(changes: Omit<Body<'addMembers'>, 'emails'>, done: string) {
    void run(async (signal) => {
      await createApiClient(signal).addMembers({ params: { id: groupId }, body: { emails: [email], ...changes } })
      announce(done)
      await changed()
    })
  }
  function setRole() {
    change({ role: other }, other === 'manager' ? t('isManager', { email }) : t('isMember', { email }))
  }
  function remove() {
    void run(async (signal) => {
      const params = { id: groupId, user_id: String(id) }
      onRemoved((await createApiClient(signal).removeMember({ params })).message)
      await changed()
    })
  }
  const [label, labelThis] =
    other === 'manager'
      ? [t('makeManager'), t('makeManagerThis', { email })]
      : [t('makeMember'), t('makeMemberThis', { email })]
  return (
    <section className="sheet-part">
      <h3>{t('membership')}</h3>
      <form
        className="member-rename"
        onSubmit={(event) => {
          event.preventDefault()
          const name = String(new FormData(event.currentTarget).get('name')).trim()
          change({ names: { [email]: name } }, t('renamed'))
        }}
      >
        <label htmlFor={field}>{t('name')}</label>
        <input id={field} name="name" maxLength={maxNameLength} autoComplete="off" defaultValue={member.name ?? ''} />
        <SubmitButton variant="small" isOff={isOff || busy}>
          {t('rename')}
        </SubmitButton>
      </form>
      <div className="actions">
        <Button variant="small" isOff={isOff || busy} onPress={isGivenUp ? () => setAsks('giveUp') : setRole}>
          <ShortLabel text={label} name={labelThis} />
        </Button>
        <Button variant="small" isOff={isOff || busy} onPress={() => setAsks('remove')}>
          <ShortLabel text={t('remove')} name={t('removeThis', { email })} />
        </Button>
      </div>
      <Alert error={error} />
      {asks && (
        <ConfirmDialog
          title={asks === 'remove' ? t('ask.title', { email }) : t('askOwn.title')}
          confirm={asks === 'remove' ? t('remove') : label}
          onConfirm={asks === 'remove' ? remove : setRole}
          onClose={() => setAsks(undefined)}
        >
          <p>{asks === 'remove' ? t('ask.effect') : t('askOwn.effect')}</p>
        </ConfirmDialog>
      )}
    </section>
  )
}
