import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/hooks/use-task.ts'

interface ActionDialogProps {
  title: string
  /** On the button, before and while it is done. */
  confirm: string
  busy: string
  /** It cannot be done yet: something is missing. */
  isOff?: boolean
  /** It cannot be undone. */
  isGrave?: boolean
  /** Does it; the dialog closes when that went well, and says why when not. */
  run(signal: AbortSignal): Promise<void>
  onClose(): void
  children: ReactNode
}

/** Asks before something is done to one user or container, and stays with it until it is done. */
export function ActionDialog({
  title,
  confirm,
  busy,
  isOff = false,
  isGrave,
  run,
  onClose,
  children,
}: ActionDialogProps) {
  const t = useTranslations('admin.table')
  const task = useTask()
  return (
    <Dialog title={title} onClose={onClose}>
      {(close) => (
        <form
          className="action-form"
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            if (isOff) return
            void task.run(async (signal) => {
              await run(signal)
              close()
            })
          }}
        >
          {children}
          <Alert error={task.error} />
          <div className="actions end">
            <Button onPress={close}>{t('cancel')}</Button>
            <button
              type="submit"
              className={isGrave ? 'button grave' : 'button primary'}
              aria-disabled={isOff || task.busy}
            >
              {task.busy ? busy : confirm}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
