import type { ReactNode } from 'react'
import { Button } from './button.tsx'

interface ConfirmActionsProps {
  cancel: ReactNode
  confirm: ReactNode
  /** Closes the dialog, which both buttons do. */
  close(): void
  onConfirm(): void
}

/** Buttons at the end of a dialog that asks for confirmation. */
export function ConfirmActions({ cancel, confirm, close, onConfirm }: ConfirmActionsProps) {
  return (
    <div className="actions end">
      <Button onPress={close}>{cancel}</Button>
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
  )
}
