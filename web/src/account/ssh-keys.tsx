import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import type { SshKey } from '@berth/api/schemas/ssh.ts'
import { boot, canAct, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskButton } from '#/components/ask-button.tsx'
import { SubmitButton } from '#/components/button.tsx'
import { Field } from '#/components/field.tsx'
import { QueryState } from '#/components/query-state.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { withTexts } from '#/i18n/i18n-provider.tsx'
import { sshKeys } from '#/messages/ssh-keys.ts'
import { Page } from '#/page/page.tsx'
import { NotFound } from '#/page/status-page.tsx'
import { focusHeading } from '#/router/router.ts'
import './account.css'
import { useRemoval } from './use-removal.ts'

const queryKey = ['ssh-keys']
/** A command, in no language. */
const makeKey = 'ssh-keygen -t ed25519'

/** The user's own SSH keys: a list with a way to remove each, and a form for a new one; only where there is an SSH server. */
export const SshKeys = withTexts({ sshKeys }, () => (boot.hasSsh ? <OwnSshKeys /> : <NotFound />))

function OwnSshKeys() {
  const t = useTranslations('sshKeys')
  const client = useQueryClient()
  const [added, setAdded] = useState(0)
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await createApiClient(signal).listSshKeys()).keys,
  })
  const removal = useRemoval(queryKey, (api, params) => api.removeSshKey({ params }))
  const isOwner = boot.acting === null
  return (
    <Page title={t('title')}>
      <p className="lead">{t('lead')}</p>
      <p>{t('how')}</p>
      <QueryState query={query} failure={removal.error} />
      {query.data?.length === 0 && <p>{t('none')}</p>}
      <ul className="rows">
        {query.data?.map((key) => (
          <SshKeyRow
            key={key.id}
            sshKey={key}
            isOff={removal.isPending || !canAct()}
            onRemove={isOwner ? () => removal.mutate(key.id) : undefined}
          />
        ))}
      </ul>
      <p role="status" className="visually-hidden">
        {removal.isSuccess && t('removed')}
      </p>
      <section className="part" aria-labelledby="new-ssh-key">
        <h2 id="new-ssh-key">{t('add.title')}</h2>
        {isOwner ? (
          // Empty again after each key.
          <AddSshKeyForm
            key={added}
            isOff={!canAct()}
            onAdded={() => {
              setAdded((count) => count + 1)
              void client.invalidateQueries({ queryKey }).then(() => focusHeading())
            }}
          />
        ) : (
          <p className="note">{t('add.notNow')}</p>
        )}
      </section>
    </Page>
  )
}

interface AddSshKeyFormProps {
  /** Nothing can be changed from this page at the moment. */
  isOff: boolean
  onAdded(): void
}

/** The line of a public key, and its title. */
function AddSshKeyForm({ isOff, onAdded }: AddSshKeyFormProps) {
  const t = useTranslations('sshKeys.add')
  const alert = useId()
  const line = useRef<HTMLTextAreaElement>(null)
  const [isMissing, setMissing] = useState(false)
  const { busy, error, run } = useTask()

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isOff) return
    const data = new FormData(event.currentTarget)
    const [key, title] = [String(data.get('key')).trim(), String(data.get('title')).trim()]
    setMissing(key === '')
    if (key === '') return line.current?.focus()
    void run(async (signal) => {
      await createApiClient(signal).addSshKey({ body: { key, title } })
      onAdded()
    })
  }

  return (
    <form className="token-form" onSubmit={submit} noValidate>
      <Alert id={alert} error={error} sentence={isMissing ? t('keyMissing') : undefined} />
      <Field
        label={t('key')}
        hint={
          <>
            {t('keyHint')} <code>{makeKey}</code>
          </>
        }
        alert={alert}
        className="token-field"
      >
        {(control) => (
          <textarea
            {...control}
            ref={line}
            name="key"
            rows={4}
            cols={60}
            autoComplete="off"
            spellCheck={false}
            aria-invalid={isMissing}
          />
        )}
      </Field>
      <Field label={t('name')} hint={t('nameHint')} className="token-field">
        {(control) => <input {...control} name="title" maxLength={100} autoComplete="off" />}
      </Field>
      <p className="actions">
        <SubmitButton isOff={busy || isOff}>{busy ? t('busy') : t('button')}</SubmitButton>
      </p>
    </form>
  )
}

interface SshKeyRowProps {
  sshKey: SshKey
  /** Undefined where it cannot be removed. */
  onRemove: (() => void) | undefined
  isOff: boolean
}

/** One of the user's own SSH keys. */
function SshKeyRow({ sshKey, onRemove, isOff }: SshKeyRowProps) {
  const t = useTranslations('sshKeys')
  const { title, type, fingerprint, created_at: createdAt, last_used: lastUsed } = sshKey
  return (
    <li className="row">
      <div>
        <h2 className="address">{title}</h2>
        <ul className="dotted hint">
          <li>{t.rich('added', { at: rich.time(createdAt) })}</li>
          <li>{lastUsed === null ? t('unused') : t.rich('used', { at: rich.time(lastUsed) })}</li>
        </ul>
        <p className="hint address">
          {type}, <code>{fingerprint}</code>
        </p>
      </div>
      {onRemove && (
        <AskButton
          text={t('remove')}
          name={t('removeThis', { title })}
          isOff={isOff}
          title={t('ask.title', { title })}
          onConfirm={onRemove}
        >
          <p>{t('ask.effect')}</p>
        </AskButton>
      )}
    </li>
  )
}
