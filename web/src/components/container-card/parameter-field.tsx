import { useId } from 'react'
import type { LaunchParameter } from '@berth/api/schemas/container.ts'

interface ParameterFieldProps {
  /** Of the field in its form. */
  name: string
  parameter: LaunchParameter
}

/** One parameter of a container type with what was chosen last. The browser checks the limits before the form is sent. */
export function ParameterField({ name, parameter }: ParameterFieldProps) {
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
