import { useTranslations } from 'use-intl/react'
import type { Field } from './schema-fields.ts'

interface FieldTableProps {
  title: string
  fields: readonly Field[]
  /** Fields of an answer are there unless their type says otherwise. */
  isAnswer?: boolean
}

/** Names, types and meanings; nothing without fields. */
export function FieldTable({ title, fields, isAnswer = false }: FieldTableProps) {
  const t = useTranslations('apiDocs')
  if (fields.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <table className="fields">
        <thead>
          <tr>
            <th>{t('field')}</th>
            <th>{t('type')}</th>
            <th>{t('meaning')}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, type, isRequired, description }) => (
            <tr key={name}>
              <th scope="row">
                <code className="path">{name}</code>
              </th>
              <td>
                <code className="path">{type}</code>
                {!isRequired && !isAnswer && <span className="hint"> {t('optional')}</span>}
              </td>
              <td lang="en">{withoutMarks(description)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Descriptions mark code with backticks, for Markdown. */
const withoutMarks = (text: string) => text.replaceAll('`', '')
