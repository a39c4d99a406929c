import type { ShareRight } from '@berth/api/schemas/features/sharing.ts'
import { useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, SubmitButton } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'
import { Dialog } from '#/components/dialog.tsx'
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
  const id = useId()
  const first = useRef<HTMLTextAreaElement>(null)
  const shown = useRef<HTMLElement>(null)
  const [copied, setCopied] = useState<'copied' | 'selected'>()
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
            <div className="group-field">
              <label htmlFor={id}>{t('emails')}</label>
              <textarea
                ref={first}
                id={id}
                name="emails"
                rows={2}
                spellCheck={false}
                aria-describedby={`${id}-hint ${id}-alert`}
              />
              <p className="hint" id={`${id}-hint`}>
                {t('hint')}
              </p>
            </div>
          )}
          <p className="hint">
            {t('tell')}{' '}
            <b className="address" ref={shown}>
              {address}
            </b>{' '}
            <Button
              variant="small"
              onPress={() =>
                void copyToClipboard(address, shown.current).then((isCopied) =>
                  setCopied(isCopied ? 'copied' : 'selected'),
                )
              }
            >
              {t('copy')}
            </Button>{' '}
            <span role="status">{copied && t(copied)}</span>
          </p>
          {boot.sharing?.groups && <GroupField />}
          <div className="group-field">
            <label htmlFor={`${id}-may`}>{t('may')}</label>
            <select id={`${id}-may`} name="may" defaultValue="look">
              <option value="look">{t('look')}</option>
              <option value="use">{t('use')}</option>
            </select>
            <p className="hint">{t('mayHint')}</p>
          </div>
          <div className="group-field">
            <label htmlFor={`${id}-port`}>{t('port')}</label>
            <input
              id={`${id}-port`}
              name="port"
              inputMode="numeric"
              autoComplete="off"
              aria-describedby={`${id}-port-hint ${id}-alert`}
            />
            <p className="hint" id={`${id}-port-hint`}>
              {t('portHint')}
            </p>
          </div>
          <div className="group-field">
            <label htmlFor={`${id}-until`}>{t('until')}</label>
            <input
              id={`${id}-until`}
              name="until"
              type="datetime-local"
              defaultValue={localFieldOf(now + Math.min(usualDuration, max))}
              max={localFieldOf(now + max)}
            />
          </div>
          <Alert id={`${id}-alert`} error={error} sentence={problem && t(problem)} />
          <div className="actions end">
            <Button onPress={close}>{t('cancel')}</Button>
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
  const id = useId()
  const { data = [] } = useOwnGroups()
  if (data.length === 0) return null
  return (
    <div className="group-field">
      <label htmlFor={id}>{t('group')}</label>
      <select id={id} name="group" defaultValue="">
        <option value="">{t('noGroup')}</option>
        {data.map((group) => (
          <option key={group.id} value={group.id}>
            {group.name}
          </option>
        ))}
      </select>
    </div>
  )
}
