import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ApiToken } from '@berth/api/schemas/api-tokens.ts'
import { isAdminScope, scopes, type Scope } from '@berth/api/scopes.ts'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskButton } from '#/components/ask-button.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { useCopy } from '#/components/clipboard.ts'
import { Field, Options } from '#/components/field.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { tokens } from '#/messages/tokens.ts'
import { Page } from '#/page/page.tsx'
import { pages } from '#/paths.ts'
import { focusHeading } from '#/router/router.ts'
import { useMe } from '#/session/use-me.ts'
import './account.css'
import { ApiTokenFacts, isExpired } from './api-token-facts.tsx'
import { useRemoval } from './use-removal.ts'

/** The reference of the API is a document of its own, which the router does not draw. */
const docsLink = { docs: (words: ReactNode) => <a href={pages.apiDocs}>{words}</a> }

const queryKey = ['api-tokens']

/** The user's own API tokens: a list with a way to remove each, and a form for a new one. */
export const ApiTokens = withTexts({ tokens }, OwnApiTokens)

function OwnApiTokens() {
  const t = useTranslations('tokens')
  const me = useMe()
  const client = useQueryClient()
  const [created, setCreated] = useState<string>()
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await createApiClient(signal).listApiTokens()).tokens,
  })
  const removal = useRemoval(queryKey, (api, params) => api.removeApiToken({ params }))
  const isOwner = boot.acting === null

  function show(token: string | undefined) {
    setCreated(token)
    if (token === undefined) focusHeading()
    else void client.invalidateQueries({ queryKey })
  }

  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <p>{t.rich('docs', docsLink)}</p>
      {created !== undefined && <CreatedApiToken token={created} onDone={() => show(undefined)} />}
      <QueryState query={query} failure={removal.error} />
      {query.data?.length === 0 && <p>{t('none')}</p>}
      <ul className="rows">
        {query.data?.map((token) => (
          <ApiTokenRow
            key={token.id}
            token={token}
            isOff={removal.isPending || !canAct()}
            onRemove={isOwner ? () => removal.mutate(token.id) : undefined}
          />
        ))}
      </ul>
      <p role="status" className="visually-hidden">
        {removal.isSuccess && t('removed')}
      </p>
      <section className="part" aria-labelledby="new-token">
        <h2 id="new-token">{t('create.title')}</h2>
        {isOwner ? (
          // Empty again after each token.
          <CreateApiTokenForm
            key={created}
            isAdministrator={me?.is_admin ?? boot.isAdmin}
            isOff={!canAct()}
            onCreated={show}
          />
        ) : (
          <p className="note">{t('create.notNow')}</p>
        )}
      </section>
    </Page>
  )
}

/** Days that a token may be valid for; the last is the longest that the API allows. */
const lifetimes = [1, 7, 30, 90, 365] as const
const secondsPerDay = 86_400

interface CreateApiTokenFormProps {
  isAdministrator: boolean
  /** Nothing can be changed from this page at the moment. */
  isOff: boolean
  onCreated(token: string): void
}

/** Name, scopes and end of a new API token. */
function CreateApiTokenForm({ isAdministrator, isOff, onCreated }: CreateApiTokenFormProps) {
  const t = useTranslations('tokens.create')
  const words = useTranslations('tokens.scope')
  const alert = useId()
  const name = useRef<HTMLInputElement>(null)
  const [missing, setMissing] = useState<'nameMissing' | 'scopesMissing'>()
  const { busy, error, run } = useTask()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isOff) return
    const data = new FormData(event.currentTarget)
    const body = {
      name: String(data.get('name')).trim(),
      scopes: data.getAll('scope') as Scope[],
      expires_in: Number(data.get('days')) * secondsPerDay,
    }
    const problem = body.name === '' ? 'nameMissing' : body.scopes.length === 0 ? 'scopesMissing' : undefined
    setMissing(problem)
    if (problem === 'nameMissing') name.current?.focus()
    if (problem) return
    void run(async (signal) => onCreated((await createApiClient(signal).createApiToken({ body })).token))
  }

  return (
    <form className="token-form" onSubmit={submit} noValidate>
      <Alert id={alert} error={error} sentence={missing && t(missing)} />
      <Field label={t('name')} hint={t('nameHint')} alert={alert} className="token-field">
        {(control) => (
          <input
            {...control}
            ref={name}
            name="name"
            maxLength={100}
            autoComplete="off"
            aria-invalid={missing === 'nameMissing'}
          />
        )}
      </Field>
      <fieldset className="choices" aria-describedby={alert}>
        <legend>{t('scopes')}</legend>
        {scopes
          .filter((scope) => isAdministrator || !isAdminScope(scope))
          .map((scope) => (
            <label key={scope} className="choice">
              <input type="checkbox" name="scope" value={scope} defaultChecked={scope === 'containers:read'} />
              <span>
                <code>{scope}</code> {words(scopeWords[scope])}
              </span>
            </label>
          ))}
      </fieldset>
      <Field label={t('ends')} className="token-field">
        {(control) => (
          <select {...control} name="days" defaultValue={30}>
            <Options of={lifetimes.map((days) => [days, days === 365 ? t('year') : t('days', { days })])} />
          </select>
        )}
      </Field>
      <p className="actions">
        <SubmitButton isOff={busy || isOff}>{busy ? t('busy') : t('button')}</SubmitButton>
      </p>
    </form>
  )
}

interface CreatedApiTokenProps {
  token: string
  /** Takes it off the page, for good. */
  onDone(): void
}

/** The one moment at which an API token is shown. It is kept in the state of the page alone. */
function CreatedApiToken({ token, onDone }: CreatedApiTokenProps) {
  const t = useTranslations('tokens.fresh')
  const { shown, label, said, copy } = useCopy(token)
  return (
    <section className="note created-token" aria-labelledby="created-token">
      <h2 id="created-token" tabIndex={-1} ref={(heading) => heading?.focus()}>
        {t('title')}
      </h2>
      <p>{t('once')}</p>
      <p>
        <code ref={shown} className="path">
          {token}
        </code>
      </p>
      <div className="actions">
        <Button variant="primary" onPress={copy}>
          {label}
        </Button>
        <Button onPress={onDone}>{t('done')}</Button>
        <span role="status" className="hint">
          {said}
        </span>
      </div>
    </section>
  )
}

interface ApiTokenRowProps {
  token: ApiToken
  /** Undefined where it cannot be removed. */
  onRemove: (() => void) | undefined
  isOff: boolean
}

/** One of the user's own API tokens. */
function ApiTokenRow({ token, onRemove, isOff }: ApiTokenRowProps) {
  const t = useTranslations('tokens')
  return (
    <li className="row">
      <div>
        <h2 className="address">
          {token.name} {isExpired(token) && <span className="badge">{t('expired')}</span>}
        </h2>
        <ApiTokenFacts token={token} />
      </div>
      {onRemove && (
        <AskButton
          text={t('remove')}
          name={t('removeThis', { name: token.name })}
          isOff={isOff}
          title={t('ask.title', { name: token.name })}
          onConfirm={onRemove}
        >
          <p>{t('ask.effect')}</p>
        </AskButton>
      )}
    </li>
  )
}

/** The key of a scope's words: message keys hold no colon. */
const scopeWords = {
  'containers:read': 'containersRead',
  'containers:write': 'containersWrite',
  'admin:read': 'adminRead',
  'admin:write': 'adminWrite',
} as const satisfies Record<Scope, string>
