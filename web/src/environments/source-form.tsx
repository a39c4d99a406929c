import { useQueryClient } from '@tanstack/react-query'
import { useId, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Environment } from '@berth/api/schemas/environments.ts'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { EndButton } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
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
          <TextField name="name" label={t('name')} hint={t('nameHint')} maxLength={40} />
          <GroupField />
        </>
      )}
      <TextField name="description" label={t('description')} value={environment?.description} maxLength={1000} />
      <Field label={t('kind')} className="environment-field">
        {(control) => (
          <select {...control} value={kind} onChange={({ target }) => setKind(target.value as Kind)}>
            <Options of={kinds.map((each) => [each, t(`kinds.${each}`)])} />
          </select>
        )}
      </Field>
      {kind === 'packages' && (
        <>
          <TextField name="base" label={t('base')} hint={t('baseHint')} value={initial.base} maxLength={255} />
          {(['apt', 'pip', 'npm'] as const).map((name) => (
            <TextField key={name} name={name} label={t(name)} hint={t('onePerLine')} value={initial[name]} rows={3} />
          ))}
          <TextField name="run" label={t('run')} hint={t('runHint')} value={initial.run} rows={3} />
        </>
      )}
      {kind === 'dockerfile' && (
        <TextField name="dockerfile" label={t('dockerfile')} value={initial.dockerfile || 'FROM \n'} rows={14} />
      )}
      {kind === 'git' && (
        <>
          <TextField name="git" label={t('git')} hint={t('gitHint')} value={initial.git} maxLength={2000} />
          <TextField name="ref" label={t('ref')} hint={t('refHint')} value={initial.ref} maxLength={255} />
          <TextField name="path" label={t('path')} value={initial.path} maxLength={500} />
          <TextField name="base" label={t('baseOfGit')} value={initial.base} maxLength={255} />
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
        <EndButton word="close" onPress={onClose} />
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
  const { data = [], error } = useBuilderGroups()
  return (
    <>
      <Field label={t('group')} hint={t('groupHint')} className="environment-field">
        {(control) => (
          <select {...control} name="group">
            {boot.isAdmin && <option value="">{t('noGroup')}</option>}
            <Options of={data.map((group) => [group.id, group.name])} />
          </select>
        )}
      </Field>
      <Alert error={error ?? undefined} />
    </>
  )
}

interface TextFieldProps {
  name: string
  label: string
  hint?: string
  value?: string | undefined
  maxLength?: number
  /** Of a field with several lines. */
  rows?: number
}

function TextField({ name, label, hint, value, maxLength, rows }: TextFieldProps) {
  const common = { name, defaultValue: value, autoComplete: 'off', spellCheck: false }
  return (
    <Field label={label} hint={hint} className="environment-field">
      {(control) =>
        rows === undefined ? (
          <input {...control} {...common} type="text" maxLength={maxLength} />
        ) : (
          <textarea {...control} {...common} rows={rows} />
        )
      }
    </Field>
  )
}
