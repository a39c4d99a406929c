import { useState, type ReactNode } from 'react'
import { Button, ShortLabel } from './button.tsx'
import { ConfirmDialog } from './dialog.tsx'

interface AskButtonProps {
  text: string
  /** As of a `ShortLabel`; undefined where the text says all. */
  name?: string
  isOff: boolean
  /** The question. */
  title: string
  onConfirm(): void
  /** What it does. */
  children: ReactNode
}

/** A button that asks before it does something, with its own text as the answer. */
export function AskButton({ text, name, isOff, title, onConfirm, children }: AskButtonProps) {
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button variant="small" isOff={isOff} onPress={() => setAsking(true)}>
        {name === undefined ? text : <ShortLabel text={text} name={name} />}
      </Button>
      {isAsking && (
        <ConfirmDialog title={title} confirm={text} onConfirm={onConfirm} onClose={() => setAsking(false)}>
          {children}
        </ConfirmDialog>
      )}
    </>
  )
}
