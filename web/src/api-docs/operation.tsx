import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { Example } from './example.tsx'
import { curlExample, typescriptExample } from './examples.ts'
import { FieldTable } from './field-table.tsx'
import type { Operation } from './read-document.ts'
import { fieldsOf } from './schema-fields.ts'

interface OperationSectionProps {
  operation: Operation
  /** Address of the API, for examples. */
  server: string
  isOpen: boolean
}

/** One endpoint: a line that opens into parameters, answer, errors and examples. */
export function OperationSection({ operation, server, isOpen }: OperationSectionProps) {
  const { id, method, path, summary } = operation
  return (
    <details id={id} className="operation" open={isOpen}>
      <summary>
        <span className="method">{method}</span> <code className="path">{path}</code>
        <span className="hint" lang="en">
          {summary}
        </span>
      </summary>
      <OperationDetails operation={operation} server={server} />
    </details>
  )
}

const code = (text: ReactNode) => <code>{text}</code>

function OperationDetails({ operation, server }: Omit<OperationSectionProps, 'isOpen'>) {
  const t = useTranslations('apiDocs')
  const { access, scope, parameters, body, answer, isStream, refusals } = operation
  const inPlace = (place: 'path' | 'query') => parameters.filter((each) => each.place === place)
  return (
    <div className="operation-details">
      <ul className="dotted hint">
        <li>{t(`access.${access}`)}</li>
        {access !== 'public' && <li>{scope === null ? t('noScope') : t.rich('scope', { scope, code })}</li>}
        {isStream && <li>{t('stream')}</li>}
      </ul>
      <FieldTable title={t('path')} fields={inPlace('path')} />
      <FieldTable title={t('query')} fields={inPlace('query')} />
      <FieldTable title={t('body')} fields={fieldsOf(body)} />
      <FieldTable title={t('answer')} fields={answer} isAnswer />
      {refusals.length > 0 && (
        <section>
          <h3>{t('errors')}</h3>
          <ul className="errors" lang="en">
            {refusals.map(({ status, description }) => (
              <li key={status}>
                <code>{status}</code> {description}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Example language="curl" text={curlExample(server, operation)} />
      <Example language="TypeScript" text={typescriptExample(server, operation)} />
    </div>
  )
}
