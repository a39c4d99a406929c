import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import { BlockDialog, Types } from './block-dialog.tsx'
import { DeleteDialog } from './delete-dialog.tsx'
import { TakeOverDialog } from './takeover-dialog.tsx'
import { UserActionDialog } from './user-action-dialog.tsx'
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

function UnblockDialog(props: UserDialogProps) {
  const t = useTranslations('admin.users.unblock')
  const blocked = props.user.containers.filter(({ is_blocked }) => is_blocked)
  return (
    <UserActionDialog action="unblock" {...props}>
      <p>{t('text')}</p>
      {blocked.length === 0 ? (
        <p>{t('back', { count: 0 })}</p>
      ) : (
        <Types text={t('back', { count: blocked.length })} containers={blocked} />
      )}
    </UserActionDialog>
  )
}

function RightsDialog(props: UserDialogProps & { action: 'promote' | 'demote' }) {
  const t = useTranslations(`admin.users.${props.action}`)
  return (
    <UserActionDialog {...props}>
      <p>{t('text')}</p>
    </UserActionDialog>
  )
}
