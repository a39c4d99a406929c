import { useEffect, useId, useRef } from 'react'
import { Button } from '#/components/button.tsx'

interface RestartDialogProps {
  name: string
  onConfirm(): void
  /** Called whenever the dialog has closed, confirmed or not. */
  onClose(): void
}

const words = {
  title: (name: string) => `Restart ${name}?`,
  keeps: 'The files in your home folder stay.',
  loses: 'Everything else in the container is replaced by a fresh copy, and programs that run in it are ended.',
  cancel: 'Cancel',
  confirm: 'Restart',
}

/** Asks before a restart. The browser's own modal dialog: it traps the focus, closes on Escape and gives the focus back. */
export function RestartDialog({ name, onConfirm, onClose }: RestartDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const title = useId()

  useEffect(() => dialog.current?.showModal(), [])

  function confirm() {
    dialog.current?.close()
    onConfirm()
  }

  return (
    <dialog ref={dialog} aria-labelledby={title} onClose={onClose}>
      <h2 id={title}>{words.title(name)}</h2>
      <p>
        <b>{words.keeps}</b> {words.loses}
      </p>
      <div className="actions end">
        <Button onPress={() => dialog.current?.close()}>{words.cancel}</Button>
        <Button look="primary" onPress={confirm}>
          {words.confirm}
        </Button>
      </div>
    </dialog>
  )
}
