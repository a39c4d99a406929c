import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useErrorMessage } from '#/i18n/use-error-message.ts'
import { useTask } from '#/components/use-task.ts'
import { useBulkJobs } from './bulk/bulk-jobs.tsx'

interface ActionDialogProps {
  title: string
  /** On the button, before and while it is done. */
  confirm: string
  busy: string
  /** It cannot be done yet: something is missing. */
  isOff?: boolean
  /** It cannot be undone. */
  isGrave?: boolean
  /**
   * Does it, and shows what became of it; the dialog closes when that went well, and says why when not.
   * @param signal for the request. It never aborts: given up with the dialog, what was asked for would be done all the same,
   *   and the row would go on saying otherwise
   */
  run(signal: AbortSignal): Promise<void>
  onClose(): void
  children: ReactNode
}

/** Asks before something is done to one user or container. It may be closed while that is done, and does not stop it. */
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
  const { notify } = useBulkJobs()
  const sentenceOf = useErrorMessage()

  /** @param dialog aborts when it was closed */
  async function runToItsEnd(dialog: AbortSignal) {
    try {
      await run(new AbortController().signal)
    } catch (error) {
      if (dialog.aborted) notify({ title: sentenceOf(error) })
      throw error
    }
  }

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
              await runToItsEnd(signal)
              close()
            })
          }}
        >
          {children}
          <Alert error={task.error} />
          <div className="actions end">
            <Button onPress={close}>{task.busy ? t('close') : t('cancel')}</Button>
            <button
              type="submit"
              className={isGrave ? 'button danger' : 'button primary'}
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
