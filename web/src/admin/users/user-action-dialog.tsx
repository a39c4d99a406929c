import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Answer } from '@berth/api/endpoints.ts'
import type { Client } from '@berth/api/client.ts'
import { createApiClient } from '#/api/api-client.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import type { UserDialogProps } from './dialogs.tsx'

type Action = 'block' | 'unblock' | 'promote' | 'demote'

interface UserActionDialogProps extends Pick<UserDialogProps, 'user' | 'onDone' | 'onClose'> {
  /** Names the endpoint and the texts in `admin.users`. */
  action: Action
  children: ReactNode
}

const endpointOf = {
  block: 'blockUser',
  unblock: 'unblockUser',
  promote: 'promoteUser',
  demote: 'demoteUser',
} as const satisfies Record<Action, keyof Client>

/** Asks for confirmation of an action whose response is the updated user. */
export function UserActionDialog({ action, user, onDone, onClose, children }: UserActionDialogProps) {
  const t = useTranslations(`admin.users.${action}`)
  async function run(signal: AbortSignal) {
    const answer: Answer<(typeof endpointOf)[Action]> = await createApiClient(signal)[endpointOf[action]]({
      params: { id: String(user.id) },
    })
    onDone(answer.user)
  }
  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      confirm={t('confirm')}
      busy={t('busy')}
      run={run}
      onClose={onClose}
    >
      {children}
    </ActionDialog>
  )
}
