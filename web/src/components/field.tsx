import { useId, type ReactNode } from 'react'

/** What connects a control with its label and with what describes it. */
interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string | undefined
}

interface FieldProps {
  label: ReactNode
  /** Below the control, and read with it. */
  hint?: ReactNode
  /** Id of an alert that is about the control, too. */
  alert?: string
  /** Null: its parts stand in the form themselves. */
  className?: string | null
  /** The control, which takes these properties. */
  children(control: ControlProps): ReactNode
}

/** A control with its label above and its hint below. */
export function Field({ label, hint, alert, className = 'group-field', children }: FieldProps) {
  const id = useId()
  const hintId = hint === undefined ? undefined : `${id}-hint`
  const parts = (
    <>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-describedby': [hintId, alert].filter(Boolean).join(' ') || undefined })}
      {hintId && (
        <p className="hint" id={hintId}>
          {hint}
        </p>
      )}
    </>
  )
  return className === null ? parts : <div className={className}>{parts}</div>
}

/** The choices of a `select`, each with what stands for it. */
export const Options = ({ of }: { of: readonly (readonly [value: string | number, text: string])[] }) =>
  of.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ))
