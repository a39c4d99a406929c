import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import type { UserDialogProps } from './dialogs.tsx'

/** Deletes an account after its address was typed: it cannot be undone. */
export function DeleteDialog({ user, onGone, onClose }: UserDialogProps) {
  const t = useTranslations('admin.users.delete')
  const [typed, setTyped] = useState('')
  const [isPurge, setPurge] = useState(false)
  const field = useId()
  const isRight = typed.trim().toLowerCase() === user.email.toLowerCase()
  const isWrong = typed !== '' && !user.email.toLowerCase().startsWith(typed.trim().toLowerCase())

  async function run(signal: AbortSignal) {
    await createApiClient(signal).deleteUser({ params: { id: String(user.id) }, query: { purge: String(isPurge) } })
    onGone()
  }

  return (
    <ActionDialog
      title={t('title', { email: user.email })}
      confirm={t('confirm')}
      busy={t('busy')}
      isOff={!isRight}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>{t('text', { count: user.containers.length })}</p>
      {!isPurge && <p>{t('files')}</p>}
      <label className="check-line">
        <input type="checkbox" checked={isPurge} onChange={(event) => setPurge(event.target.checked)} />
        {t('purge')}
      </label>
      <label htmlFor={field}>{t('type', { email: user.email })}</label>
      <input
        id={field}
        aria-describedby={`${field}-hint`}
        aria-invalid={isWrong}
        value={typed}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
      <p className="hint" id={`${field}-hint`} role="status">
        {isWrong ? t('mismatch') : ''}
      </p>
    </ActionDialog>
  )
}
