import { useId, useRef, useState, type FormEvent } from 'react'
import { isAdminScope, scopes, type Scope } from '@berth/api/scopes.ts'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { SubmitButton } from '#/components/submit-button.tsx'
import { useTask } from '#/components/use-task.ts'
import { scopeWords } from './scope-words.ts'

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
export function CreateApiTokenForm({ isAdministrator, isOff, onCreated }: CreateApiTokenFormProps) {
  const t = useTranslations('tokens.create')
  const words = useTranslations('tokens.scope')
  const id = useId()
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
      <Alert id={`${id}-alert`} error={error} sentence={missing && t(missing)} />
      <div className="token-field">
        <label htmlFor={id}>{t('name')}</label>
        <input
          ref={name}
          id={id}
          name="name"
          maxLength={100}
          autoComplete="off"
          aria-invalid={missing === 'nameMissing'}
          aria-describedby={`${id}-hint ${id}-alert`}
        />
        <p className="hint" id={`${id}-hint`}>
          {t('nameHint')}
        </p>
      </div>
      <fieldset className="choices" aria-describedby={`${id}-alert`}>
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
      <div className="token-field">
        <label htmlFor={`${id}-days`}>{t('ends')}</label>
        <select id={`${id}-days`} name="days" defaultValue={30}>
          {lifetimes.map((days) => (
            <option key={days} value={days}>
              {days === 365 ? t('year') : t('days', { days })}
            </option>
          ))}
        </select>
      </div>
      <p className="actions">
        <SubmitButton isOff={busy || isOff}>{busy ? t('busy') : t('button')}</SubmitButton>
      </p>
    </form>
  )
}
