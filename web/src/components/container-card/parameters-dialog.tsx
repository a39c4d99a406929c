import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { SubmitButton } from '#/components/submit-button.tsx'
import { chosenParameters, type ChosenParameters, type Parameters } from '#/launch/chosen-parameters.ts'
import { ParameterField } from './parameter-field.tsx'

interface ParametersDialogProps {
  name: string
  parameters: Parameters
  onLaunch(chosen: ChosenParameters): void
  /** Called when the dialog has closed, launched or not. */
  onClose(): void
}

/** Asks for the parameters of a container before it is launched; what was chosen last is filled in. */
export function ParametersDialog({ name, parameters, onLaunch, onClose }: ParametersDialogProps) {
  const t = useTranslations('dashboard')
  return (
    <Dialog title={t('parameters.title', { name })} onClose={onClose}>
      {(close) => (
        <form
          className="parameters"
          onSubmit={(event) => {
            event.preventDefault()
            const chosen = chosenParameters(parameters, new FormData(event.currentTarget))
            close()
            onLaunch(chosen)
          }}
        >
          {Object.entries(parameters).map(([key, parameter]) => (
            <ParameterField key={key} name={key} parameter={parameter} />
          ))}
          <p>{t('parameters.kept')}</p>
          <div className="actions end">
            <Button onPress={close}>{t('confirm.cancel')}</Button>
            <SubmitButton>{t('action.launch')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}
