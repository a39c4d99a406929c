import { maxEmails, type AddMembersResponse, type GroupRole } from '@berth/api/schemas/groups.ts'
import { useId, useRef, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { useMembersChanged } from './use-members.ts'

/** Longer than the server takes to mail invitations, in ms. */
const timeout = 90_000

/** Adds users by their addresses, and invites others. It stays open and says what became of each. */
export function AddMembersDialog({ id: group, onClose }: { id: string; onClose: () => void }) {
  const t = useTranslations('groups.add')
  const roles = useTranslations('groups.members.role')
  const id = useId()
  const field = useRef<HTMLTextAreaElement>(null)
  const { busy, error, run } = useTask()
  const [problem, setProblem] = useState<'missing' | 'tooMany'>()
  const [outcome, setOutcome] = useState<AddMembersResponse>()
  const changed = useMembersChanged(group)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const emails = [
      ...new Set(
        String(data.get('emails'))
          .split(/[\s,;]+/)
          .filter(Boolean),
      ),
    ]
    const found = emails.length === 0 ? 'missing' : emails.length > maxEmails ? 'tooMany' : undefined
    setProblem(found)
    setOutcome(undefined)
    if (found) return field.current?.focus()
    const body = { emails, role: data.get('role') as GroupRole }
    void run(async (signal) => {
      setOutcome(await createApiClient(signal, timeout).addMembers({ params: { id: group }, body }))
      if (field.current) field.current.value = ''
      await changed()
    })
  }

  return (
    <Dialog title={t('title')} onClose={onClose}>
      {(close) => (
        <form className="group-form" onSubmit={submit} noValidate>
          <div className="group-field">
            <label htmlFor={id}>{t('emails')}</label>
            <textarea
              ref={field}
              id={id}
              name="emails"
              rows={3}
              spellCheck={false}
              aria-describedby={`${id}-hint ${id}-alert`}
            />
            <p className="hint" id={`${id}-hint`}>
              {t('hint')}
            </p>
          </div>
          <div className="group-field">
            <label htmlFor={`${id}-role`}>{t('role')}</label>
            <select id={`${id}-role`} name="role" defaultValue="member">
              <option value="member">{roles('member')}</option>
              <option value="manager">{roles('manager')}</option>
            </select>
          </div>
          <Alert id={`${id}-alert`} error={error} sentence={problem && t(problem, { max: String(maxEmails) })} />
          <div role="status">{outcome && <Outcome {...outcome} />}</div>
          <div className="actions end">
            <Button onPress={close}>{t('close')}</Button>
            <button type="submit" className="button primary" aria-disabled={busy}>
              {busy ? t('busy') : t('button')}
            </button>
          </div>
        </form>
      )}
    </Dialog>
  )
}

function Outcome({ added, invited, refused }: AddMembersResponse) {
  const t = useTranslations('groups.add')
  return (
    <>
      <p>
        {added.length > 0 && t('added', { count: added.length })}{' '}
        {invited.length > 0 && t('invited', { count: invited.length })}
      </p>
      {refused.length > 0 && <p className="note">{t('refused', { emails: refused.join(', ') })}</p>}
    </>
  )
}
