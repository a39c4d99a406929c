import { useTranslations } from 'use-intl/react'
import { useTypes } from '#/containers/use-types.ts'

interface TypeChoiceProps {
  legend: string
  /** Null: every type. */
  types: readonly string[] | null
  onChange(types: string[] | null): void
}

/** Which container types a group acts on: every type, or some of them. */
export function TypeChoice({ legend, types, onChange }: TypeChoiceProps) {
  const t = useTranslations('admin.groups.form')
  const configured = useTypes().data ?? []
  // One that is not configured any more stays, until it is taken out.
  const others = (types ?? []).filter((type) => !configured.some((each) => each.type === type))
  const all = [...configured, ...others.map((type) => ({ type, name: type }))]
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...(types ?? []), type] : (types ?? []).filter((each) => each !== type))
  return (
    <fieldset className="group-types">
      <legend>{legend}</legend>
      <label>
        <input
          type="checkbox"
          checked={types === null}
          onChange={({ target }) => onChange(target.checked ? null : [])}
        />
        {t('allTypes')}
      </label>
      {types !== null &&
        all.map(({ type, name }) => (
          <label key={type}>
            <input
              type="checkbox"
              checked={types.includes(type)}
              onChange={({ target }) => toggle(type, target.checked)}
            />
            {name}
          </label>
        ))}
    </fieldset>
  )
}
