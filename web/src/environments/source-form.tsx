import { useQueryClient } from '@tanstack/react-query'
import { useId, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Environment } from '@berth/api/schemas/environments.ts'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { useTask } from '#/components/use-task.ts'
import { fieldsOf, kindOf, kinds, sourceOf, type Kind, type SourceFields } from './source-values.ts'
import { environmentsKey, useBuilderGroups } from './use-environments.ts'

interface SourceFormProps {
  /** Undefined: a new one. */
  environment: Environment | undefined
  onClose(): void
}

interface Checked {
  readonly images: readonly string[]
  readonly recognised: readonly string[]
}

/** Makes an environment, or changes what it is built from. */
export function SourceForm({ environment, onClose }: SourceFormProps) {
  const t = useTranslations('environments.form')
  const client = useQueryClient()
  const { busy, error, run } = useTask()
  const [kind, setKind] = useState<Kind>(kindOf(environment?.source))
  const [checked, setChecked] = useState<Checked>()
  const initial = fieldsOf(environment?.source)
  const id = useId()

  const readForm = (form: HTMLFormElement) => {
    const data = new FormData(form)
    const text = (name: string) => String(data.get(name) ?? '')
    const fields = Object.fromEntries(Object.keys(initial).map((name) => [name, text(name)])) as SourceFields
    const group = text('group').trim()
    return {
      name: text('name').trim(),
      description: text('description').trim(),
      source: sourceOf(kind, fields),
      group_id: group === '' ? null : Number(group),
    }
  }

  function check() {
    const form = document.getElementById(id) as HTMLFormElement
    setChecked(undefined)
    void run(async (signal) => {
      const { source, group_id } = readForm(form)
      const groupId = environment?.group_id ?? group_id
      setChecked(await createApiClient(signal).checkEnvironmentSource({ body: { source, group_id: groupId } }))
    })
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { name, description, source, group_id } = readForm(event.currentTarget)
    setChecked(undefined)
    void run(async (signal) => {
      const api = createApiClient(signal)
      if (environment)
        await api.changeEnvironment({ params: { name: environment.name }, body: { description, source } })
      else await api.createEnvironment({ body: { name, description, source, group_id } })
      await client.invalidateQueries({ queryKey: environmentsKey })
      onClose()
    })
  }

  return (
    <form id={id} className="environment-form" onSubmit={submit} noValidate>
      {!environment && (
        <>
          <Field name="name" label={t('name')} hint={t('nameHint')} maxLength={40} />
          <GroupField />
        </>
      )}
      <Field name="description" label={t('description')} value={environment?.description} maxLength={1000} />
      <div className="environment-field">
        <label htmlFor={`${id}-kind`}>{t('kind')}</label>
        <select id={`${id}-kind`} value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
          {kinds.map((each) => (
            <option key={each} value={each}>
              {t(`kinds.${each}`)}
            </option>
          ))}
        </select>
      </div>
      {kind === 'packages' && (
        <>
          <Field name="base" label={t('base')} hint={t('baseHint')} value={initial.base} maxLength={255} />
          {(['apt', 'pip', 'npm'] as const).map((name) => (
            <Field key={name} name={name} label={t(name)} hint={t('onePerLine')} value={initial[name]} rows={3} />
          ))}
          <Field name="run" label={t('run')} hint={t('runHint')} value={initial.run} rows={3} />
        </>
      )}
      {kind === 'dockerfile' && (
        <Field name="dockerfile" label={t('dockerfile')} value={initial.dockerfile || 'FROM \n'} rows={14} />
      )}
      {kind === 'git' && (
        <>
          <Field name="git" label={t('git')} hint={t('gitHint')} value={initial.git} maxLength={2000} />
          <Field name="ref" label={t('ref')} hint={t('refHint')} value={initial.ref} maxLength={255} />
          <Field name="path" label={t('path')} value={initial.path} maxLength={500} />
          <Field name="base" label={t('baseOfGit')} value={initial.base} maxLength={255} />
        </>
      )}
      <Alert error={error} />
      <p role="status" className="hint">
        {checked && <CheckedWords checked={checked} />}
      </p>
      <p className="actions">
        <SubmitButton isOff={busy}>{busy ? t('busy') : environment ? t('save') : t('make')}</SubmitButton>
        <Button isOff={busy} onPress={check}>
          {t('check')}
        </Button>
        <Button onPress={onClose}>{t('close')}</Button>
      </p>
    </form>
  )
}

function CheckedWords({ checked: { images, recognised } }: { checked: Checked }) {
  const t = useTranslations('environments.form')
  return (
    <>
      {recognised.length > 0 && `${t('found', { files: recognised.join(', ') })} `}
      {images.length === 0 ? t('nothingRead') : t('checked', { images: images.join(', ') })}
    </>
  )
}

/** Names the group that an environment belongs to: for managers one of theirs. */
function GroupField() {
  const t = useTranslations('environments.form')
  const id = useId()
  const { data, error } = useBuilderGroups()
  return (
    <div className="environment-field">
      <label htmlFor={id}>{t('group')}</label>
      <select id={id} name="group" aria-describedby={`${id}-hint`}>
        {boot.isAdmin && <option value="">{t('noGroup')}</option>}
        {data?.map((group) => (
          <option key={group.id} value={group.id}>
            {group.name}
          </option>
        ))}
      </select>
      <p className="hint" id={`${id}-hint`}>
        {t('groupHint')}
      </p>
      <Alert error={error ?? undefined} />
    </div>
  )
}

interface FieldProps {
  name: string
  label: string
  hint?: string
  value?: string | undefined
  maxLength?: number
  /** Of a field with several lines. */
  rows?: number
}

function Field({ name, label, hint, value, maxLength, rows }: FieldProps) {
  const id = useId()
  const common = {
    id,
    name,
    defaultValue: value,
    autoComplete: 'off',
    spellCheck: false,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
  }
  return (
    <div className="environment-field">
      <label htmlFor={id}>{label}</label>
      {rows === undefined ? (
        <input {...common} type="text" maxLength={maxLength} />
      ) : (
        <textarea {...common} rows={rows} />
      )}
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}
