import { useTranslations } from 'use-intl/react'
import { Time } from '#/components/time.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import type { data } from '#/messages/en/data.ts'

/** One record of what is kept: its fields by name. Fields without a value are left out. */
export function DataRow({ row }: { row: object }) {
  const t = useTranslations('data')
  const fields = Object.entries(row).filter(([, value]) => !isEmpty(value))
  return (
    <li className="row">
      <dl className="data-facts">
        {fields.map(([name, value]) => (
          <div key={name}>
            <dt>{t(`field.${name as FieldName}`)}</dt>
            <dd>
              <FieldValue name={name} value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </li>
  )
}

type FieldName = keyof (typeof data)['field']

const isEmpty = (value: unknown) =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(Object(value)).length === 0)

/** As the API writes instants. */
const instant = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Fields whose values are ids of container types. */
const typeFields: ReadonlySet<string> = new Set(['type', 'container_type'])

function TypeNames({ ids }: { ids: readonly string[] }) {
  const nameOf = useTypeName()
  return <span title={ids.join(', ')}>{ids.map(nameOf).join(', ')}</span>
}

function FieldValue({ name, value }: { name: string; value: unknown }) {
  const t = useTranslations('data')
  const word = `value.${name}.${String(value)}` as 'value.unit.day'
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no')
  // The id is in the file.
  if (typeFields.has(name)) return <TypeNames ids={[value].flat().map(String)} />
  if (typeof value === 'string') return t.has(word) ? t(word) : instant.test(value) ? <Time at={value} /> : value
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'number' ? String(value) : <code>{JSON.stringify(value)}</code>
}
