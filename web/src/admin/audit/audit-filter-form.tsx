import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { useTask } from '#/components/use-task.ts'
import { navigate } from '#/router/router.ts'
import { useActions } from './actions.ts'
import { addressOf, findTarget, fromLocalField, isFiltered, toLocalField, type AuditFilter } from './audit-filter.ts'

/**
 * Users among whom the one is looked for whose whole address or slug was typed: as many as the API gives. Those who
 * have it as a part are many for a short slug, and come first when they are older.
 */
const maxFound = '1000'

/**
 * The filter of the audit log. It is in the URL, so that it can be bookmarked, shared, and left with the back button.
 */
export function FilterForm({ filter }: { filter: AuditFilter }) {
  const t = useTranslations('admin.audit.filter')
  const { busy, error, run } = useTask()
  const [hasNoAccount, setHasNoAccount] = useState(false)
  const noAccountId = useId()
  // A phone shows the entries first.
  const [isOpen] = useState(() => isFiltered(filter) || !matchMedia('(max-width: 40rem)').matches)

  function show(data: FormData) {
    const text = (name: string) => String(data.get(name) ?? '').trim()
    setHasNoAccount(false)
    void run(async (signal) => {
      const target = await findTarget(text('target'), async (q) => {
        return (await createApiClient(signal).listUsers({ query: { q, limit: maxFound } })).users
      })
      if (target === undefined) return setHasNoAccount(true)
      const [since, until] = [fromLocalField(text('since')), fromLocalField(text('until'))]
      navigate(addressOf({ actor: text('actor').toLowerCase(), action: text('action'), target, since, until }))
    })
  }

  return (
    <search>
      <details className="audit-fold" open={isOpen}>
        <summary>{t('title')}</summary>
        <form
          className="audit-filter"
          aria-label={t('title')}
          onSubmit={(event) => {
            event.preventDefault()
            show(new FormData(event.currentTarget))
          }}
        >
          <Field name="actor" label={t('actor')} hint={t('actorHint')} value={filter.actor} />
          <ActionSelect value={filter.action} />
          <Field
            name="target"
            label={t('target')}
            hint={t('targetHint')}
            value={filter.target}
            {...(hasNoAccount && { errorId: noAccountId })}
          />
          <Field name="since" label={t('since')} type="datetime-local" value={toLocalField(filter.since)} />
          <Field name="until" label={t('until')} type="datetime-local" value={toLocalField(filter.until)} />
          <div className="actions">
            <button type="submit" className="button" aria-disabled={busy}>
              {t('show')}
            </button>
          </div>
        </form>
      </details>
      <div role="alert" id={noAccountId} className="live">
        {hasNoAccount && <p className="alert">{t('noAccount')}</p>}
      </div>
      <Alert error={error} />
    </search>
  )
}

interface FieldProps {
  name: string
  label: string
  hint?: string
  type?: 'text' | 'datetime-local'
  value: string
  /** Id of the error message. */
  errorId?: string
}

function Field({ name, label, hint, type = 'text', value, errorId }: FieldProps) {
  const id = useId()
  const hintId = `${id}-hint`
  const described = [hint === undefined ? [] : [hintId], errorId ?? []].flat().join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        defaultValue={value}
        maxLength={254}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        aria-describedby={described || undefined}
        aria-invalid={errorId !== undefined}
      />
      {hint !== undefined && (
        <span id={hintId} className="field-hint">
          {hint}
        </span>
      )}
    </div>
  )
}

/** Selects an action, or a group of actions. */
function ActionSelect({ value }: { value: string }) {
  const t = useTranslations('admin.audit')
  const id = useId()
  const subjects = useActions()
  const offered = subjects.flatMap(({ group, actions }) => ['', `${group}.`, ...actions])
  const isListed = offered.includes(value)
  return (
    <div className="field">
      <label htmlFor={id}>{t('filter.action')}</label>
      <select id={id} name="action" defaultValue={value}>
        <option value="">{t('filter.all')}</option>
        {/* An action that the URL names and this page has no text for. */}
        {!isListed && <option value={value}>{value}</option>}
        {subjects.map(({ group, actions }) => (
          <optgroup key={group} label={t(`group.${group}`)}>
            {actions.length > 1 && <option value={`${group}.`}>{t(`group.${group}`)}</option>}
            {actions.map((action) => (
              <option key={action} value={action}>
                {t(`action.${action}`)}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </div>
  )
}
