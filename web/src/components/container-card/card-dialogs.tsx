import { Suspense, useImperativeHandle, useState, type Ref } from 'react'
import { ConfirmDialog } from '#/components/container-card/confirm-dialog.tsx'
import type { ChosenParameters, Parameters } from '#/launch/chosen-parameters.ts'
import { lazyExport } from '#/router/lazy-export.ts'

// Most visits of the dashboard open neither; few templates have parameters.
const LogsDialog = lazyExport('LogsDialog', () => import('#/components/logs/logs-dialog.tsx'))
const ParametersDialog = lazyExport(
  'ParametersDialog',
  () => import('#/components/container-card/parameters-dialog.tsx'),
)

type Asked = 'launch' | 'restart' | 'stop' | 'logs'

export interface CardDialogsHandle {
  open(dialog: Asked): void
}

interface CardDialogsProps {
  ref: Ref<CardDialogsHandle>
  name: string
  type: string
  /** What may be chosen at a launch; without it a launch asks nothing. */
  parameters: Parameters | undefined
  onLaunch(chosen: ChosenParameters): void
  onConfirm(verb: 'restart' | 'stop'): void
}

/** The dialogs of a card. Which one is open is state of this component, so that the card does not render for it. */
export function CardDialogs({ ref, name, type, parameters, onLaunch, onConfirm }: CardDialogsProps) {
  const [opened, setOpened] = useState<Asked>()
  useImperativeHandle(ref, () => ({ open: setOpened }), [])
  const close = () => setOpened(undefined)
  if (opened === undefined) return null
  if (opened === 'restart' || opened === 'stop')
    return <ConfirmDialog verb={opened} name={name} onConfirm={() => onConfirm(opened)} onClose={close} />
  return (
    <Suspense fallback={null}>
      {opened === 'logs' ? (
        <LogsDialog name={name} type={type} onClose={close} />
      ) : (
        <ParametersDialog name={name} parameters={parameters ?? {}} onLaunch={onLaunch} onClose={close} />
      )}
    </Suspense>
  )
}
