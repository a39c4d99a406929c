import { useRef, type ReactNode } from 'react'
import { Alert } from '#/components/alert.tsx'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { useErrorMessage } from '#/i18n/i18n-provider.tsx'
import { useTask } from '#/components/use-task.ts'
import { useBulkJobs } from './bulk/bulk-jobs.tsx'
import { focusRows } from './table/use-row-focus.ts'

interface ActionDialogProps {
  title: string
  /** The label of the button, before and while the action runs. */
  words(key: 'confirm' | 'busy'): string
  /** The action is not possible yet: input is missing. */
  isOff?: boolean
  /** The action cannot be undone. */
  isGrave?: boolean
  /**
   * Runs the action and shows its result; the dialog closes on success, and shows the error otherwise.
   * @param signal for the request. It does not abort when the dialog closes: the server would complete the request all
   * the same, and the row would not show it
   */
  run(signal: AbortSignal): Promise<void>
  onClose(): void
  children: ReactNode
}

/**
 * Asks for confirmation of an action on one user or container. Closing it while the action runs does not stop the
 * action.
 */
export function ActionDialog({ title, words, isOff = false, isGrave, run, onClose, children }: ActionDialogProps) {
  const task = useTask()
  const { notify } = useBulkJobs()
  const sentenceOf = useErrorMessage()
  const isClosed = useRef(false)

  /** @param dialog aborts when the dialog is closed */
  async function runToItsEnd(dialog: AbortSignal) {
    try {
      await run(new AbortController().signal)
    } catch (error) {
      if (dialog.aborted) notify({ title: sentenceOf(error) })
      throw error
    }
  }

  return (
    <Dialog
      title={title}
      onClose={() => {
        isClosed.current = true
        onClose()
      }}
    >
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
              // What was deleted takes its row along, and with it the button that the focus would return to.
              if (!isClosed.current) focusRows()
            })
          }}
        >
          {children}
          <Alert error={task.error} />
          <div className="actions end">
            <EndButton word={task.busy ? 'close' : 'cancel'} onPress={close} />
            <button
              type="submit"
              className={isGrave ? 'button danger' : 'button primary'}
              aria-disabled={isOff || task.busy}
            >
              {words(task.busy ? 'busy' : 'confirm')}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}
