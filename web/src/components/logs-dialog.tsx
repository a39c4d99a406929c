import { useEffect, useId, useRef } from 'react'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { LogRegion } from '#/components/log-region.tsx'
import { useLogs, type LogState } from '#/hooks/use-logs.ts'

interface LogsDialogProps {
  name: string
  type: string
  /** Called when the dialog has closed. */
  onClose(): void
}

const words = {
  title: (name: string) => `Logs of ${name}`,
  close: 'Close',
  again: 'Read again',
  silent: 'It has not written anything yet.',
  states: {
    opening: 'One moment…',
    open: 'New lines appear as they are written.',
    lost: 'The connection was lost. It is tried again…',
    ended: 'The program has ended; this is what it wrote last.',
    refused: '',
  } satisfies Record<LogState, string>,
}

/** What the program in a container writes, as it writes it. The browser's own modal dialog, as wide as the window allows. */
export function LogsDialog({ name, type, onClose }: LogsDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()
  const { state, lines, error, again } = useLogs(type)
  const isOver = state === 'ended' || state === 'refused'

  useEffect(() => dialog.current?.showModal(), [])

  return (
    <dialog ref={dialog} className="logs" aria-labelledby={title} onClose={onClose}>
      <h2 id={title}>{words.title(name)}</h2>
      <p role="status" className="hint live">
        {words.states[state]}
      </p>
      <Alert error={error} />
      <LogRegion labelledBy={title} lines={lines.length === 0 && state === 'open' ? [words.silent] : lines} />
      <div className="actions end">
        {isOver && <Button onPress={again}>{words.again}</Button>}
        <Button look="primary" onPress={() => dialog.current?.close()}>
          {words.close}
        </Button>
      </div>
    </dialog>
  )
}
