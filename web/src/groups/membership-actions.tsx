import type { Body } from '@berth/api/endpoints.ts'
import type { Member } from '@berth/api/schemas/groups.ts'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
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
  const [isAsking, setAsking] = useState(false)
  const changed = useMembersChanged(groupId)
  const announce = useAnnounce()
  const { email, id } = member.user
  const other = member.role === 'manager' ? 'member' : 'manager'

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
        <Button variant="small" isOff={isOff || busy} onPress={setRole}>
          <span aria-hidden>{label}</span>
          <span className="visually-hidden">{labelThis}</span>
        </Button>
        <Button variant="small" isOff={isOff || busy} onPress={() => setAsking(true)}>
          <span aria-hidden>{t('remove')}</span>
          <span className="visually-hidden">{t('removeThis', { email })}</span>
        </Button>
      </div>
      <Alert error={error} />
      {isAsking && (
        <Dialog title={t('ask.title', { email })} onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p>{t('ask.effect')}</p>
              <ConfirmActions cancel={t('ask.cancel')} confirm={t('remove')} close={close} onConfirm={remove} />
            </>
          )}
        </Dialog>
      )}
    </div>
  )
}
