import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import type { LaunchParameter } from '@berth/api/schemas/container.ts'
import { SubmitButton } from '#/components/button.tsx'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { chosenParameters, type ChosenParameters, type Parameters } from '#/launch/chosen-parameters.ts'
import { parameters as words } from '#/messages/card-dialogs.ts'

interface ParametersDialogProps {
  name: string
  parameters: Parameters
  onLaunch(chosen: ChosenParameters): void
  /** Called when the dialog has closed, launched or not. */
  onClose(): void
}

/** Asks for the parameters of a container before it is launched; what was chosen last is filled in. */
export const ParametersDialog = withTexts({ parameters: words }, ParametersForm)

function ParametersForm({ name, parameters, onLaunch, onClose }: ParametersDialogProps) {
  const t = useTranslations()
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
            <EndButton word="cancel" onPress={close} />
            <SubmitButton>{t('dashboard.action.launch')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}

interface ParameterFieldProps {
  /** The name of the field in its form. */
  name: string
  parameter: LaunchParameter
}

/**
 * One parameter of a container type with what was chosen last. The browser checks the limits before the form is sent.
 */
function ParameterField({ name, parameter }: ParameterFieldProps) {
  const id = useId()
  const { label, type, value } = parameter
  if (type === 'boolean')
    return (
      <label className="check-line">
        <input type="checkbox" name={name} defaultChecked={value === true} />
        {label}
      </label>
    )
  return (
    <div className="parameter">
      <label htmlFor={id}>{label}</label>
      <Control id={id} name={name} parameter={parameter} />
    </div>
  )
}

function Control({ id, name, parameter }: ParameterFieldProps & { id: string }) {
  const { type, choices = [], min, max, value } = parameter
  const field = { id, name, defaultValue: String(value) }
  if (type === 'choice')
    return (
      <select {...field}>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    )
  if (type === 'number') return <input type="number" {...field} min={min} max={max} step="any" required />
  const isRequired = min !== undefined && min > 0
  return <input {...field} minLength={min} maxLength={max} required={isRequired} autoComplete="off" />
}
