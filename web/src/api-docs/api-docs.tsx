import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useEffect, useId, useMemo, useState, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Page } from '#/components/page/page.tsx'
import { rich } from '#/components/rich.tsx'
import { pages } from '#/paths.ts'
import '#/styles/api-docs.css'
import { ApiDocsI18nProvider } from './api-docs-i18n-provider.tsx'
import { OperationSection } from './operation.tsx'
import { readDocument, search, type OperationGroup } from './read-document.ts'

const links = {
  document: (words: ReactNode) => <a href="/api/openapi.json">{words}</a>,
  tokens: rich.link(pages.tokens),
}

/** The API reference: every endpoint, generated from the OpenAPI document of this installation. */
export function ApiDocs() {
  return (
    <ApiDocsI18nProvider>
      <Reference />
    </ApiDocsI18nProvider>
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
