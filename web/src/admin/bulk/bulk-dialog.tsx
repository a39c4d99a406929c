import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
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
          <div className="actions end">
            <Button onPress={close}>{t('cancel')}</Button>
            <Button
              variant="primary"
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
