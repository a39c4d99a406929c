import { useCallback, useId, useState, type ReactNode } from 'react'

interface DialogProps {
  title: string
  /** `wide` for what is longer than sentences. */
  look?: 'wide'
  /** Called whenever the dialog has closed, however. Take it out of the page then. */
  onClose(): void
  /** What stands in it. @param close closes it, as Escape does */
  children: (close: () => void) => ReactNode
}

/**
 * Asks, or shows, something before anything else goes on. The browser's own modal dialog: it traps the focus, closes on
 * Escape and gives the focus back. It opens as soon as it is rendered.
 */
export function Dialog({ title, look, onClose, children }: DialogProps) {
  const [dialog, setDialog] = useState<HTMLDialogElement | null>(null)
  const heading = useId()
  // In the frame of the press that asked for it, and not in an effect after that.
  const open = useCallback((element: HTMLDialogElement | null) => {
    setDialog(element)
    element?.showModal()
  }, [])
  return (
    <dialog ref={open} className={look && `${look}-dialog`} aria-labelledby={heading} onClose={onClose}>
      <h2 id={heading}>{title}</h2>
      {children(() => dialog?.close())}
    </dialog>
  )
}
