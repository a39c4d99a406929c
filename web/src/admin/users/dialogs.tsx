import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/admin.ts'
import { createApiClient } from '#/api/api-client.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { BlockDialog, Types } from './block-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { TakeOverDialog } from './takeover-dialog.tsx'
import type { UserAction } from './user-actions.ts'
import { UserDetails } from './user-details.tsx'

export interface UserDialogProps {
  user: AdminUser
  /** Called after success with the updated user. */
  onDone(user: AdminUser): void
  /** Called when the user no longer exists. */
  onGone(): void
  onClose(): void
}

/** The dialogs about one user. Another signup link needs no confirmation. */
export type UserDialogName = Exclude<UserAction, 'resend'> | 'details'

const dialogs = {
  details: UserDetails,
  block: BlockDialog,
  unblock: UnblockDialog,
  takeOver: TakeOverDialog,
  promote: (props: UserDialogProps) => <RightsDialog {...props} action="promote" />,
  demote: (props: UserDialogProps) => <RightsDialog {...props} action="demote" />,
  delete: DeleteDialog,
} as const satisfies Record<UserDialogName, unknown>

export function UserDialog({ name, ...props }: UserDialogProps & { name: UserDialogName }) {
  const Current = dialogs[name]
  return <Current {...props} />
}

function UnblockDialog({ user, onDone, onClose }: UserDialogProps) {
  const t = useTranslations('admin.users.unblock')
  const blocked = user.containers.filter(({ is_blocked }) => is_blocked)
  async function run(signal: AbortSignal) {
    onDone((await createApiClient(signal).unblockUser({ params: { id: String(user.id) } })).user)
  }
  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      confirm={t('confirm')}
      busy={t('busy')}
      run={run}
      onClose={onClose}
    >
      <p>{t('words')}</p>
      {blocked.length === 0 ? (
        <p>{t('back', { count: 0 })}</p>
      ) : (
        <Types words={t('back', { count: blocked.length })} containers={blocked} />
      )}
    </ActionDialog>
  )
}

function RightsDialog({ user, action, onDone, onClose }: UserDialogProps & { action: 'promote' | 'demote' }) {
  const t = useTranslations(`admin.users.${action}`)
  async function run(signal: AbortSignal) {
    const api = createApiClient(signal)
    const change = action === 'promote' ? api.promoteUser : api.demoteUser
    onDone((await change({ params: { id: String(user.id) } })).user)
  }
  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      confirm={t('confirm')}
      busy={t('busy')}
      run={run}
      onClose={onClose}
    >
      <p>{t('words')}</p>
    </ActionDialog>
  )
}
