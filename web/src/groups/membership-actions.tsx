import type { Body } from '@berth/api/endpoints.ts'
import type { Member } from '@berth/api/schemas/groups.ts'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { useAnnounce } from '#/groups/live/announcements.tsx'
import { useMembersChanged } from './use-members.ts'

interface MembershipActionsProps {
  groupId: string
  member: Member
  isOff: boolean
}

/** What a manager can do with a membership. */
export function MembershipActions({ groupId, member, isOff }: MembershipActionsProps) {
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
          <span aria-hidden>{label}</span>
          <span className="visually-hidden">{labelThis}</span>
        </Button>
        <Button variant="small" isOff={isOff || busy} onPress={() => setAsks('remove')}>
          <span aria-hidden>{t('remove')}</span>
          <span className="visually-hidden">{t('removeThis', { email })}</span>
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
