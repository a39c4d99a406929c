import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { pages } from '#/paths.ts'
import { sessionChannel } from '#/session/session-channel.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import type { UserDialogProps } from './dialogs.tsx'

/** Max length of the reason. Source: the API, `TakeoverBody`. */
const maxReasonLength = 500

/** Asks for a reason, starts a takeover, and opens the user's pages. */
export function TakeOverDialog({ user, onClose }: UserDialogProps) {
  const t = useTranslations('admin.users.takeOver')
  const [reason, setReason] = useState('')
  const field = useId()

  async function run(signal: AbortSignal) {
    const body = { reason: reason.trim(), in_browser: true }
    await createApiClient(signal).takeOver({ params: { id: String(user.id) }, body })
    sessionChannel.announce()
    // A real navigation: the next document is the user's and has the banner. Also when the dialog is closed by then:
    // this browser acts for the user already, and this page's requests would fail.
    location.assign(pages.home)
  }

  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      confirm={t('confirm')}
      busy={t('busy')}
      isOff={reason.trim() === ''}
      run={run}
      onClose={onClose}
    >
      <p>{t('text')}</p>
      <p>{t('limits')}</p>
      <label htmlFor={field}>{t('reason')}</label>
      <input
        id={field}
        aria-describedby={`${field}-hint`}
        value={reason}
        maxLength={maxReasonLength}
        required
        autoComplete="off"
        autoFocus
        onChange={(event) => setReason(event.target.value)}
      />
      <p className="hint" id={`${field}-hint`}>
        {t('reasonHint')}
      </p>
    </ActionDialog>
  )
}
