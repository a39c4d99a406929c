import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useId, useMemo, useRef, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'
import { rich } from '#/components/rich.tsx'
import { I18nProvider } from '#/i18n/i18n-provider.tsx'
import { apiDocs, germanApiDocs } from '#/messages/api-docs.ts'
import { Page } from '#/page/page.tsx'
import { pages } from '#/paths.ts'
import './api-docs.css'
import { curlExample, typescriptExample } from './examples.ts'
import { fieldsOf, readDocument, search, type Field, type Operation, type OperationGroup } from './read-document.ts'

const texts = { en: { apiDocs }, de: { apiDocs: germanApiDocs } }

const links = {
  document: (words: ReactNode) => <a href="/api/openapi.json">{words}</a>,
  tokens: rich.link(pages.tokens),
}

/** The API reference: every endpoint, generated from the OpenAPI document of this installation. */
export function ApiDocs() {
  return (
    <I18nProvider texts={texts}>
      <Reference />
    </I18nProvider>
  )
}

function Reference() {
  const t = useTranslations('apiDocs')
  const field = useId()
  const [text, setText] = useState('')
  const wanted = useDeferredValue(text)
  const query = useQuery({
    queryKey: ['openapi'],
    queryFn: async ({ signal }) => readDocument(await createApiClient(signal).openApi()),
    staleTime: Infinity,
  })
  const groups = useMemo(() => search(query.data?.groups ?? [], wanted), [query.data, wanted])
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0)
  const [target] = useState(() => location.hash.slice(1))
  useEffect(() => {
    if (query.data && target !== '') document.getElementById(target)?.scrollIntoView()
  }, [query.data, target])

  return (
    <Page title={t('title')}>
      <p className="lead">{t.rich('lead', links)}</p>
      <search className="api-search">
        <label htmlFor={field}>{t('search')}</label>
        <input
          id={field}
          type="search"
          value={text}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={`${field}-hint`}
          onChange={(event) => setText(event.target.value)}
        />
        <p className="hint" id={`${field}-hint`}>
          {t('searchHint')}
        </p>
      </search>
      <Alert error={query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      {query.data && (
        <>
          <p role="status" className="hint">
            {t('found', { count })}
          </p>
          {groups.map((group) => (
            <Group key={group.subject} group={group} server={query.data.server} target={target} />
          ))}
        </>
      )}
    </Page>
  )
}

interface GroupProps {
  group: OperationGroup
  server: string
  /** Name of the endpoint that is open from the start. */
  target: string
}

function Group({ group: { subject, operations }, server, target }: GroupProps) {
  const t = useTranslations('apiDocs.group')
  return (
    <section className="operations" aria-labelledby={`group-${subject}`}>
      <h2 id={`group-${subject}`}>{t(subject)}</h2>
      {operations.map((operation) => (
        <OperationSection key={operation.id} operation={operation} server={server} isOpen={operation.id === target} />
      ))}
    </section>
  )
}

interface OperationSectionProps {
  operation: Operation
  /** Address of the API, for examples. */
  server: string
  isOpen: boolean
}

/** One endpoint: a line that opens into parameters, answer, errors and examples. */
function OperationSection({ operation, server, isOpen }: OperationSectionProps) {
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

const inCode = (text: ReactNode) => <code>{text}</code>

function OperationDetails({ operation, server }: Omit<OperationSectionProps, 'isOpen'>) {
  const t = useTranslations('apiDocs')
  const { access, scope, parameters, body, answer, isStream, refusals } = operation
  const inPlace = (place: 'path' | 'query') => parameters.filter((each) => each.place === place)
  return (
    <div className="operation-details">
      <ul className="dotted hint">
        <li>{t(`access.${access}`)}</li>
        {access !== 'public' && <li>{scope === null ? t('noScope') : t.rich('scope', { scope, code: inCode })}</li>}
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

interface FieldTableProps {
  title: string
  fields: readonly Field[]
  /** Fields of an answer are there unless their type says otherwise. */
  isAnswer?: boolean
}

/** Names, types and meanings; nothing without fields. */
function FieldTable({ title, fields, isAnswer = false }: FieldTableProps) {
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

/** An example that can be copied. */
function Example({ language, text }: { language: 'curl' | 'TypeScript'; text: string }) {
  const t = useTranslations('apiDocs')
  const shown = useRef<HTMLElement>(null)
  const [isCopied, setCopied] = useState(false)
  const name = t('example', { language })
  return (
    <section className="example">
      <div className="example-head">
        <h3>{name}</h3>
        <span role="status" className="hint">
          {isCopied && t('copied')}
        </span>
        <Button variant="small" onPress={() => void copyToClipboard(text, shown.current).then(setCopied)}>
          <ShortLabel text={t('copy')} name={t('copyThis', { language })} />
        </Button>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by keyboard (WCAG 2.2, 2.1.1) */}
      <pre role="region" aria-label={name} tabIndex={0}>
        <code ref={shown}>{text}</code>
      </pre>
    </section>
  )
}
