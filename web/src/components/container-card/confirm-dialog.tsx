import { useTranslations } from 'use-intl/react'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'

interface ConfirmDialogProps {
  verb: 'restart' | 'stop'
  name: string
  onConfirm(): void
  /** Called when the dialog has closed, confirmed or not. */
  onClose(): void
}

/** Asks for confirmation before programs are ended, and says what is kept. */
export function ConfirmDialog({ verb, name, onConfirm, onClose }: ConfirmDialogProps) {
  const t = useTranslations('dashboard')
  return (
    <Dialog title={t(`confirm.${verb}.title`, { name })} onClose={onClose}>
      {(close) => (
        <>
          <p>
            <b>{t(`confirm.${verb}.keeps`)}</b> {t(`confirm.${verb}.loses`)}
          </p>
          <ConfirmActions
            cancel={t('confirm.cancel')}
            confirm={t(`action.${verb}`)}
            close={close}
            onConfirm={onConfirm}
          />
        </>
      )}
    </Dialog>
  )
}
