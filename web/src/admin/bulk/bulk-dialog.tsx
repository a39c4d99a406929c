import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'

interface BulkDialogProps {
  title: string
  /** What will happen, and to whom it will not. */
  lines: readonly string[]
  confirm: string
  onConfirm(): void
  onClose(): void
}

/** Says what is about to happen to many, before it does. */
export function BulkDialog({ title, lines, confirm, onConfirm, onClose }: BulkDialogProps) {
  const t = useTranslations('admin.table')
  return (
    <Dialog title={title} onClose={onClose}>
      {(close) => (
        <>
          {lines.map((line) => (
            <p key={line}>{line}</p>
          ))}
          <div className="actions end">
            <Button onPress={close}>{t('cancel')}</Button>
            <Button
              look="primary"
              onPress={() => {
                close()
                onConfirm()
              }}
            >
              {confirm}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
