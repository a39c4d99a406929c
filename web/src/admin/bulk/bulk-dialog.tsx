import { useTranslations } from 'use-intl/react'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'

interface BulkDialogProps {
  title: string
  /** What will happen, and which rows are left out. */
  lines: readonly string[]
  confirm: string
  onConfirm(): void
  onClose(): void
}

/** Asks for confirmation of a bulk action. */
export function BulkDialog({ title, lines, confirm, onConfirm, onClose }: BulkDialogProps) {
  const t = useTranslations('admin.table')
  return (
    <Dialog title={title} onClose={onClose}>
      {(close) => (
        <>
          {lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
          <ConfirmActions cancel={t('cancel')} confirm={confirm} close={close} onConfirm={onConfirm} />
        </>
      )}
    </Dialog>
  )
}
