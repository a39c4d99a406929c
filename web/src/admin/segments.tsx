import { useId } from 'react'

interface SegmentsProps<T extends string> {
  /** What is chosen, for screen readers. */
  label: string
  options: readonly T[]
  chosen: T
  textOf(option: T): string
  /** Several lines where the window is narrow. */
  isWrapping?: boolean
  onChange(option: T): void
}

/** A choice of one of a few, all of which are shown beside each other. */
export function Segments<T extends string>({
  label,
  options,
  chosen,
  textOf,
  isWrapping = false,
  onChange,
}: SegmentsProps<T>) {
  const name = useId()
  return (
    <fieldset className={isWrapping ? 'segments wrapping' : 'segments'}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((each) => (
        <label key={each}>
          <input type="radio" name={name} checked={each === chosen} onChange={() => onChange(each)} />
          <span>{textOf(each)}</span>
        </label>
      ))}
    </fieldset>
  )
}
