import type { ShareRight } from '@berth/api/schemas/features/sharing.ts'
import { useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { useCopy } from '#/components/clipboard.ts'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { Field, Options } from '#/components/field.tsx'
import { useTask } from '#/components/use-task.ts'
import { useOwnGroups } from '#/groups/use-own-groups.ts'
import { serverNow } from '#/time/time.tsx'
import { localFieldOf, readShare } from './share-values.ts'
import { useSharesChanged } from './use-shares.ts'

/** How long a share lasts when nothing else is chosen, in ms. */
const usualDuration = 7 * 86_400_000

interface ShareDialogProps {
  name: string
  type: string
  /** Where visitors open it. */
  address: string
  /** Visitors get single pages alone: most applications stay empty for them. */
  isForSinglePages: boolean
  onClose(): void
  onShared(): void
}

/** Lets others look at a container, or use it, until a date; says plainly what each means. */
export function ShareDialog({ name, type, address, isForSinglePages, onClose, onShared }: ShareDialogProps) {
  const t = useTranslations('sharing.form')
  const alert = useId()
  const first = useRef<HTMLTextAreaElement>(null)
  const { shown, label, said, copy } = useCopy(address)
  const { busy, error, run } = useTask()
  const [problem, setProblem] = useState<'missing' | 'endMissing' | 'badPort'>()
  const [now] = useState(() => serverNow())
  const changed = useSharesChanged(type)
  const max = (boot.sharing?.max_seconds ?? 0) * 1_000

  function submit(event: FormEvent<HTMLFormElement>, close: () => void) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const text = (field: string) => String(data.get(field) ?? '')
    const body = readShare({
      emails: text('emails'),
      group: text('group'),
      may: text('may') as ShareRight,
      port: text('port'),
      until: text('until'),
    })
    setProblem(typeof body === 'string' ? body : undefined)
    if (typeof body === 'string') return first.current?.focus()
    void run(async (signal) => {
      await createApiClient(signal).shareContainer({ params: { container_type: type }, body })
      await changed()
      close()
      onShared()
    })
  }

  return (
    <Dialog title={t('title', { name })} onClose={onClose}>
      {(close) => (
        <form className="group-form" onSubmit={(event) => submit(event, close)} noValidate>
          {isForSinglePages && <p className="hint">{t('singlePages')}</p>}
          {boot.sharing?.people && (
            <Field label={t('emails')} hint={t('hint')} alert={alert}>
              {(control) => <textarea {...control} ref={first} name="emails" rows={2} spellCheck={false} />}
            </Field>
          )}
          <p className="hint">
            {t('tell')}{' '}
            <b className="address" ref={shown}>
              {address}
            </b>{' '}
            <Button variant="small" onPress={copy}>
              {label}
            </Button>{' '}
            <span role="status">{said}</span>
          </p>
          {boot.sharing?.groups && <GroupField />}
          <Field label={t('may')} hint={t('mayHint')}>
            {(control) => (
              <select {...control} name="may" defaultValue="look">
                <option value="look">{t('look')}</option>
                <option value="use">{t('use')}</option>
              </select>
            )}
          </Field>
          <Field label={t('port')} hint={t('portHint')} alert={alert}>
            {(control) => <input {...control} name="port" inputMode="numeric" autoComplete="off" />}
          </Field>
          <Field label={t('until')}>
            {(control) => (
              <input
                {...control}
                name="until"
                type="datetime-local"
                defaultValue={localFieldOf(now + Math.min(usualDuration, max))}
                max={localFieldOf(now + max)}
              />
            )}
          </Field>
          <Alert id={alert} error={error} sentence={problem && t(problem)} />
          <div className="actions end">
            <EndButton word="cancel" onPress={close} />
            <SubmitButton isOff={busy}>{busy ? t('busy') : t('button')}</SubmitButton>
          </div>
        </form>
      )}
    </Dialog>
  )
}

/** One of the groups that the user is in. */
function GroupField() {
  const t = useTranslations('sharing.form')
  const { data = [] } = useOwnGroups()
  if (data.length === 0) return null
  return (
    <Field label={t('group')}>
      {(control) => (
        <select {...control} name="group" defaultValue="">
          <option value="">{t('noGroup')}</option>
          <Options of={data.map((group) => [group.id, group.name])} />
        </select>
      )}
    </Field>
  )
}
