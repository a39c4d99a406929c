import { useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { ShortLabel, SubmitButton } from '#/components/button.tsx'
import { Field } from '#/components/field.tsx'
import { Link } from '#/components/link.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { groups } from '#/messages/groups.ts'
import { Page } from '#/page/page.tsx'
import { tokenIn, useLocation } from '#/router/router.ts'
import './groups.css'
import { membersPath, useOwnGroups } from './use-own-groups.ts'

/** The user's groups, and a form for a join code. */
export const Groups = withTexts({ groups }, OwnGroupList)

function OwnGroupList() {
  const t = useTranslations('groups')
  const query = useOwnGroups()
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <QueryState query={query} />
      {query.data?.length === 0 && <p>{t('none')}</p>}
      <ul className="rows">
        {query.data?.map(({ id, name, role }) => (
          <li key={id} className="row">
            <div>
              <h2 className="address">{role === 'manager' ? <Link to={membersPath(id)}>{name}</Link> : name}</h2>
              {role === 'manager' && <p className="hint">{t('manager')}</p>}
            </div>
            {role === 'manager' && (
              <Link to={membersPath(id)} className="button small">
                <ShortLabel text={t('manage')} name={t('manageThis', { name })} />
              </Link>
            )}
          </li>
        ))}
      </ul>
      {boot.acting === null && <JoinForm isOff={!canAct()} />}
    </Page>
  )
}

/** A field for a join code; a link to join brings the code with it, and the user presses the button. */
function JoinForm({ isOff }: { isOff: boolean }) {
  const t = useTranslations('groups.join')
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const [isMissing, setMissing] = useState(false)
  const [joined, setJoined] = useState<string>()
  const { state, query } = useLocation()
  // On plain http the server leaves the code in the address.
  const given = tokenIn(state) ?? query.get('code') ?? ''

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isOff) return
    const code = field.current?.value.trim() ?? ''
    setMissing(code === '')
    setJoined(undefined)
    if (code === '') return field.current?.focus()
    void run(async (signal) => {
      const { group } = await createApiClient(signal).joinGroup({ body: { code } })
      setJoined(group.name)
      if (field.current) field.current.value = ''
      // Types of the group may be launched from now on.
      await client.invalidateQueries()
    })
  }

  return (
    <section className="part" aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>{t('title')}</h2>
      <form className="group-form" onSubmit={submit} noValidate>
        <Field label={t('code')} hint={t('hint')} alert={`${id}-alert`} className={null}>
          {(control) => (
            <input
              {...control}
              ref={field}
              defaultValue={given}
              maxLength={40}
              className="join-code-field"
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
              aria-invalid={isMissing}
            />
          )}
        </Field>
        <Alert id={`${id}-alert`} error={error} sentence={isMissing ? t('missing') : undefined} />
        <p className="actions">
          <SubmitButton isOff={busy || isOff}>{busy ? t('busy') : t('button')}</SubmitButton>
        </p>
        <p role="status">{joined !== undefined && t('joined', { name: joined })}</p>
      </form>
    </section>
  )
}
