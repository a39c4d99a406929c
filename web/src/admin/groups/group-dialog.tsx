import { useQueryClient } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Group } from '@berth/api/schemas/groups.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Field } from '#/components/field.tsx'
import { useTypes } from '#/components/type-name.tsx'
import { changesOf, fieldOf, isCount, limitNames, localTimeOf, readGroup, type WrongField } from './group-values.ts'
import { groupsKey } from './use-groups.ts'

interface GroupDialogProps {
  /** Undefined: a new one. */
  group: Group | undefined
  onClose(): void
}

/** Makes a group, or changes one. */
export function GroupDialog({ group: current, onClose }: GroupDialogProps) {
  const t = useTranslations('admin.groups.form')
  const client = useQueryClient()
  const fields = useRef<HTMLDivElement>(null)
  /** The group when the dialog was opened, which is what its fields show. */
  const [group] = useState(current)
  const [wrong, setWrong] = useState<WrongField['wrong']>()
  const [types, setTypes] = useState(group?.types ?? null)
  const isByProvider = group !== undefined && group.source !== 'local'

  const inputOf = (name: string) => fields.current?.querySelector<HTMLInputElement>(`[name=${name}]`)
  const valueOf = (name: string) => inputOf(name)?.value ?? ''

  async function run(signal: AbortSignal) {
    const limits = {
      running: valueOf('running'),
      memory: valueOf('memory'),
      cpus: valueOf('cpus'),
      gpus: valueOf('gpus'),
      disk: valueOf('disk'),
    }
    const name = group && isByProvider ? group.name : valueOf('name')
    const body = readGroup({ name, description: valueOf('description'), types, limits, ends: valueOf('ends') }, group)
    if ('wrong' in body) {
      setWrong(body.wrong)
      inputOf(body.wrong)?.focus()
      // The dialog stays open, with the problem at its place.
      throw new DOMException(body.wrong, 'AbortError')
    }
    setWrong(undefined)
    const api = createApiClient(signal)
    if (group) await api.changeGroup({ params: { id: String(group.id) }, body: changesOf(body, group) })
    else await api.createGroup({ body })
    await client.invalidateQueries({ queryKey: groupsKey })
  }

  return (
    <ActionDialog
      title={group ? t('editTitle', { name: group.name }) : t('new')}
      words={(key) => t(key === 'busy' ? 'busy' : group ? 'save' : 'create')}
      run={run}
      onClose={onClose}
    >
      <div ref={fields} className="group-form">
        {isByProvider ? (
          <p className="hint">{t('nameByProvider', { source: group.source })}</p>
        ) : (
          <TextField
            name="name"
            label={t('name')}
            hint={t('nameHint')}
            problem={wrong === 'name' ? t('nameMissing') : undefined}
            value={group?.name}
            maxLength={100}
          />
        )}
        <TextField name="description" label={t('description')} value={group?.description} maxLength={1000} />
        <TypeChoice legend={t('types')} types={types} onChange={setTypes} />
        <fieldset className="group-limits">
          <legend>{t('limits')}</legend>
          <div className="group-fields">
            {limitNames.map((name) => (
              <TextField
                key={name}
                name={name}
                label={t(name)}
                problem={wrong === name ? t(isCount(name) ? 'badWhole' : 'badNumber', { name: t(name) }) : undefined}
                value={fieldOf(group?.limits, name)}
                isNumber
              />
            ))}
          </div>
          <p className="hint">{t('limitsHint')}</p>
        </fieldset>
        <TextField
          name="ends"
          label={t('ends')}
          hint={t('endsHint')}
          value={localTimeOf(group?.expires_at ?? null)}
          type="datetime-local"
        />
      </div>
    </ActionDialog>
  )
}

interface TextFieldProps {
  name: string
  label: string
  hint?: string
  /** What is wrong with what was typed. */
  problem?: string | undefined
  value: string | undefined
  type?: 'datetime-local'
  maxLength?: number
  isNumber?: boolean
}

function TextField({ name, label, hint, problem, value, type, maxLength, isNumber = false }: TextFieldProps) {
  const problemId = useId()
  return (
    <Field label={label} hint={hint} alert={problemId}>
      {(control) => (
        <>
          <input
            {...control}
            name={name}
            type={type}
            defaultValue={value}
            maxLength={maxLength}
            autoComplete="off"
            inputMode={isNumber ? 'decimal' : undefined}
            aria-invalid={problem !== undefined}
          />
          <Alert id={problemId} error={undefined} sentence={problem} />
        </>
      )}
    </Field>
  )
}

interface TypeChoiceProps {
  legend: string
  /** Null: every type. */
  types: readonly string[] | null
  onChange(types: string[] | null): void
}

/** Which container types a group acts on: every type, or some of them. */
function TypeChoice({ legend, types, onChange }: TypeChoiceProps) {
  const t = useTranslations('admin.groups.form')
  const configured = useTypes().data ?? []
  // One that is not configured any more stays, until it is taken out.
  const others = (types ?? []).filter((type) => !configured.some((each) => each.type === type))
  const all = [...configured, ...others.map((type) => ({ type, name: type }))]
  const toggle = (type: string, isOn: boolean) =>
    onChange(isOn ? [...(types ?? []), type] : (types ?? []).filter((each) => each !== type))
  return (
    <fieldset className="group-types">
      <legend>{legend}</legend>
      <label>
        <input
          type="checkbox"
          checked={types === null}
          onChange={({ target }) => onChange(target.checked ? null : [])}
        />
        {t('allTypes')}
      </label>
      {types !== null &&
        all.map(({ type, name }) => (
          <label key={type}>
            <input
              type="checkbox"
              checked={types.includes(type)}
              onChange={({ target }) => toggle(type, target.checked)}
            />
            {name}
          </label>
        ))}
    </fieldset>
  )
}
