import { useImperativeHandle, useState, type Ref } from 'react'
import { ConfirmDialog } from '#/components/container-card/confirm-dialog.tsx'
import { LogsDialog } from '#/components/logs/logs-dialog.tsx'

type Asked = 'restart' | 'stop' | 'logs'

export interface CardDialogsHandle {
  open(dialog: Asked): void
}

interface CardDialogsProps {
  ref: Ref<CardDialogsHandle>
  name: string
  type: string
  onConfirm(verb: 'restart' | 'stop'): void
}

/** The dialogs of a card. Which one is open is state of this component, so that the card does not render for it. */
export function CardDialogs({ ref, name, type, onConfirm }: CardDialogsProps) {
  const [opened, setOpened] = useState<Asked>()
  useImperativeHandle(ref, () => ({ open: setOpened }), [])
  const close = () => setOpened(undefined)
  if (opened === undefined) return null
  if (opened === 'logs') return <LogsDialog name={name} type={type} onClose={close} />
  return <ConfirmDialog verb={opened} name={name} onConfirm={() => onConfirm(opened)} onClose={close} />
}
