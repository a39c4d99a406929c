import type { Body } from '@berth/api/endpoints.ts'
import type { Member } from '@berth/api/schemas/groups.ts'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTask } from '#/components/use-task.ts'
import type { Tone } from '#/containers/container-status.ts'
import { useMembersChanged } from './use-members.ts'

interface MemberRowProps {
  groupId: string
  member: Member
  isOff: boolean
  isReadOnly: boolean
}

/** A member with role, containers of the group's types, and what a manager can do. */
export function MemberRow({ groupId, member, isOff, isReadOnly }: MemberRowProps) {
  const t = useTranslations('groups.members')
  const { email } = member.user
  return (
    <li className="row">
      <div>
        <h2 className="address">
          {email} {member.role === 'manager' && <span className="badge">{t('role.manager')}</span>}
        </h2>
        <ul className="member-state hint">
          {member.containers.length === 0 && <li>{t('containers.none')}</li>}
          {member.containers.map((each) => (
            <li key={each.id}>
              <StatusBadge
                tone={each.is_blocked ? 'bad' : tones[each.status]}
                word={t('containers.one', {
                  type: each.container_type,
                  status: t(`status.${each.is_blocked ? 'blocked' : each.status}`),
                })}
              />
            </li>
          ))}
        </ul>
      </div>
      {!isReadOnly && <RowActions groupId={groupId} member={member} isOff={isOff} />}
    </li>
  )
}

const tones: Readonly<Record<Member['containers'][number]['status'], Tone>> = {
  running: 'good',
  paused: 'idle',
  stopped: 'idle',
  missing: 'idle',
  failed: 'bad',
  unknown: 'busy',
}

function RowActions({ groupId, member, isOff }: Omit<MemberRowProps, 'isReadOnly'>) {
  const t = useTranslations('groups.members')
  const { busy, error, run } = useTask()
  const [isAsking, setAsking] = useState(false)
  const changed = useMembersChanged(groupId)
  const { email, id } = member.user
  const other = member.role === 'manager' ? 'member' : 'manager'

  function setRole() {
    void run(async (signal) => {
      const body: Body<'addMembers'> = { emails: [email], role: other }
      await createApiClient(signal).addMembers({ params: { id: groupId }, body })
      await changed()
    })
  }
  function remove() {
    void run(async (signal) => {
      await createApiClient(signal).removeMember({ params: { id: groupId, user_id: String(id) } })
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
