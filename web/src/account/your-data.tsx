import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { PersonalDataResponse } from '@berth/api/schemas/personal-data.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskForHelp } from '#/components/ask-for-help.tsx'
import { Button } from '#/components/button.tsx'
import { downloadFile } from '#/components/download-file.ts'
import { useTypeName } from '#/components/type-name.tsx'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { data } from '#/messages/account.ts'
import { Page } from '#/page/page.tsx'
import './account.css'
import { Time } from '#/time/time.tsx'
import { OwnHomes } from './own-homes.tsx'

/** Timeout of the request in ms: the whole audit log is searched. */
const timeout = 120_000

/** Max rows of a section on the page; the file has all. */
const maxRows = 50

/** Page of what is kept about the signed-in user: each kind with the reason and the time, and all of it as a file. */
export const YourData = withTexts({ data }, PersonalData)

function PersonalData() {
  const t = useTranslations('data')
  const query = useQuery({
    queryKey: ['personal-data'],
    queryFn: ({ signal }) => createApiClient(signal, timeout).exportOwnData(),
    // An administrator's log has tens of megabytes, and only one export of a user may be under way.
    refetchOnWindowFocus: false,
  })
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <Alert error={query.error ?? undefined} />
      {query.isPending && <p role="status">{t('loading')}</p>}
      <OwnHomes />
      {query.data && <Sections data={query.data} />}
    </Page>
  )
}

function Sections({ data }: { data: PersonalDataResponse }) {
  const t = useTranslations('data')
  const [file, setFile] = useState<string>()

  function download() {
    const name = `berth-${data.account.slug}-${data.made_at.slice(0, 10)}.json`
    downloadFile(new Blob([`${JSON.stringify(data, null, 2)}\n`], { type: 'application/json' }), name)
    setFile(name)
  }

  return (
    <>
      <p className="actions with-hint">
        <Button onPress={download}>{t('download')}</Button>
        <span role="status" className="hint">
          {file !== undefined && t('downloaded', { file })}
        </span>
      </p>
      <Section name="account" rows={[data.account]} data={data} />
      <p className="hint">
        {t('deletion')} <AskForHelp />
      </p>
      {sections.map((name) => (
        <Section key={name} name={name} rows={data[name]} data={data} />
      ))}
    </>
  )
}

const sections = [
  'containers',
  'sessions',
  'links',
  'link_requests',
  'api_tokens',
  'ssh_keys',
  'identities',
  'groups',
  'invitations',
  'shares',
  'term_ends',
  'archives',
  'usage',
  'audit_entries',
] as const

interface SectionProps {
  name: 'account' | (typeof sections)[number]
  rows: readonly object[]
  data: PersonalDataResponse
}

function Section({ name, rows, data }: SectionProps) {
  const t = useTranslations('data')
  const { homes, takeovers, sessions: longest, audit_addresses: addresses } = data.kept_for
  const days = (seconds: number) => t('days', { count: Math.ceil(seconds / 86_400) })
  const times = { homes: days(homes), takeovers: days(takeovers), sessions: days(longest), addresses: days(addresses) }
  const left = rows.length - maxRows
  return (
    <section className="part" aria-labelledby={`data-${name}`}>
      <h2 id={`data-${name}`}>{t(`section.${name}.title`)}</h2>
      <p className="hint">{t(`section.${name}.why`, times)}</p>
      {rows.length === 0 ? (
        <p>{t('none')}</p>
      ) : (
        <ul className="rows">
          {rows.slice(-maxRows).map((row, index) => (
            <DataRow key={index} row={row} />
          ))}
        </ul>
      )}
      {left > 0 && <p className="hint">{t('more', { count: left })}</p>}
    </section>
  )
}

/** One record of what is kept: its fields by name. Fields without a value are left out. */
function DataRow({ row }: { row: object }) {
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

/** An instant as the API writes it. */
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
