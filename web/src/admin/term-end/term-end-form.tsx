import type { TermEndSums } from '@berth/api/schemas/groups/term-end.ts'
import { useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { groupsKey } from '#/admin/groups/use-groups.ts'
import { useInstants } from '#/admin/use-instants.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { serverNow } from '#/time/server-now.ts'
import { dayAfter, startOf } from './dates.ts'
import { TermEndPreview } from './term-end-preview.tsx'
import { usePreview } from './use-term-end.ts'

/** The server lists all homes before it answers, in ms. */
const timeout = 120_000
/** Proposed, in days from now. */
const [removeDays, keepDays] = [7, 90]

/** When what happens, what it will do, and the beginning of it, which asks before. */
export function TermEndForm({ id, name }: { id: string; name: string }) {
  const t = useTranslations('admin.termEnd')
  const [removeOn, setRemoveOn] = useState(() => dayAfter(serverNow(), removeDays))
  const [keepUntil, setKeepUntil] = useState(() => dayAfter(serverNow(), keepDays))
  const [keepsAccounts, setKeepsAccounts] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const query = usePreview(id, keepsAccounts)
  const sums = query.data?.pages[0]?.sums ?? undefined
  const today = dayAfter(serverNow(), 0)
  const problem = removeOn < today ? 'past' : keepUntil > removeOn ? undefined : 'badDates'
  const removeHint = removeOn === today ? 'todayHint' : 'removeHint'
  return (
    <>
      <div className="group-form">
        <div className="group-fields">
          <DateField
            label={t('form.removeOn')}
            hint={t(`form.${removeHint}`)}
            value={removeOn}
            isWrong={problem === 'past'}
            onChange={setRemoveOn}
          />
          <DateField
            label={t('form.keepUntil')}
            hint={t('form.keepHint')}
            value={keepUntil}
            isWrong={problem === 'badDates'}
            onChange={setKeepUntil}
          />
        </div>
        <div className="group-types">
          <label>
            <input
              type="checkbox"
              checked={keepsAccounts}
              onChange={({ target }) => setKeepsAccounts(target.checked)}
            />{' '}
            {t('form.keepAccounts')}
          </label>
        </div>
        <Alert error={undefined} sentence={problem && t(`form.${problem}`)} />
        <p>
          <Button variant="primary" isOff={problem !== undefined || !sums?.has_room} onPress={() => setAsking(true)}>
            {t('form.begin')}
          </Button>
        </p>
      </div>
      <TermEndPreview query={query} sums={sums} />
      {isAsking && sums && (
        <AskToBegin
          id={id}
          name={name}
          sums={sums}
          isAtOnce={removeOn === today}
          body={{
            remove_at: startOf(removeOn) ?? '',
            keep_until: startOf(keepUntil) ?? '',
            keep_accounts: keepsAccounts,
          }}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}

interface AskToBeginProps {
  id: string
  name: string
  sums: TermEndSums
  /** Nothing is waited for but archives and mails. */
  isAtOnce: boolean
  body: { remove_at: string; keep_until: string; keep_accounts: boolean }
  onClose(): void
}

function AskToBegin({ id, name, sums, isAtOnce, body, onClose }: AskToBeginProps) {
  const t = useTranslations('admin.termEnd.ask')
  const client = useQueryClient()
  const instants = useInstants()
  const { accounts, containers, homes } = sums
  async function run(signal: AbortSignal) {
    await createApiClient(signal, timeout).beginTermEnd({ params: { id }, body })
    await client.invalidateQueries({ queryKey: groupsKey })
  }
  return (
    <ActionDialog
      title={t('title', { name })}
      confirm={t('confirm')}
      busy={t('busy')}
      isGrave
      run={run}
      onClose={onClose}
    >
      <p>
        {t('effect', {
          accounts,
          containers,
          homes,
          isAtOnce: String(isAtOnce),
          removeOn: instants.day(body.remove_at),
          keepUntil: instants.day(body.keep_until),
        })}
      </p>
    </ActionDialog>
  )
}

interface DateFieldProps {
  label: string
  hint: string
  value: string
  isWrong: boolean
  onChange(value: string): void
}

function DateField({ label, hint, value, isWrong, onChange }: DateFieldProps) {
  const id = useId()
  return (
    <div className="group-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={value}
        aria-invalid={isWrong}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => onChange(target.value)}
      />
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    </div>
  )
}
