import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { PreviewedMember, TermEndSums } from '@berth/api/schemas/groups/term-end.ts'
import { ActionDialog } from '#/admin/action-dialog.tsx'
import { QueryError } from '#/admin/admin-page.tsx'
import { groupsKey } from '#/admin/groups/use-groups.ts'
import { useInstants } from '#/admin/instants.tsx'
import { useQuantities } from '#/admin/quantities.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Field } from '#/components/field.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { serverNow } from '#/time/time.tsx'
import { dayAfter, startOf } from './dates.ts'
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
  return (
    <>
      <div className="group-form">
        <div className="group-fields">
          <Field label={t('form.removeOn')} hint={t(removeOn === today ? 'form.todayHint' : 'form.removeHint')}>
            {(control) => (
              <input
                {...control}
                type="date"
                value={removeOn}
                aria-invalid={problem === 'past'}
                onChange={({ target }) => setRemoveOn(target.value)}
              />
            )}
          </Field>
          <Field label={t('form.keepUntil')} hint={t('form.keepHint')}>
            {(control) => (
              <input
                {...control}
                type="date"
                value={keepUntil}
                aria-invalid={problem === 'badDates'}
                onChange={({ target }) => setKeepUntil(target.value)}
              />
            )}
          </Field>
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
    <ActionDialog title={t('title', { name })} words={t} isGrave run={run} onClose={onClose}>
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

interface TermEndPreviewProps {
  query: ReturnType<typeof usePreview>
  sums: TermEndSums | undefined
}

/** What an end of term will do: numbers, and each member by name. */
function TermEndPreview({ query, sums }: TermEndPreviewProps) {
  const t = useTranslations('admin.termEnd')
  const members = query.data?.pages.flatMap((page) => page.members) ?? []
  return (
    <section className="part" aria-labelledby="term-end-preview">
      <h2 id="term-end-preview">{t('preview.title')}</h2>
      <QueryError query={query} />
      {sums && <Sums sums={sums} />}
      {sums?.members === 0 && <p>{t('preview.none')}</p>}
      <ul className="rows" aria-label={t('preview.members')}>
        {members.map((each) => (
          <Member key={each.user.id} member={each} />
        ))}
      </ul>
      <NextPageButton query={query} />
    </section>
  )
}

function Sums({ sums }: { sums: TermEndSums }) {
  const t = useTranslations('admin.termEnd.preview')
  const { bytes } = useQuantities()
  const free = bytes(sums.free_bytes)
  return (
    <>
      <ul>
        <li>{t('accounts', { count: sums.accounts })}</li>
        {sums.staying > 0 && <li>{t('staying', { count: sums.staying })}</li>}
        {sums.untouched > 0 && <li>{t('untouched', { count: sums.untouched })}</li>}
        <li>{t('homes', { count: sums.homes, bytes: bytes(sums.bytes) })}</li>
        {sums.homes_without_size > 0 && <li>{t('unknown', { count: sums.homes_without_size })}</li>}
        {sums.has_room && <li>{t('room', { free })}</li>}
      </ul>
      <Alert error={undefined} sentence={sums.has_room ? undefined : t('noRoom', { free })} />
    </>
  )
}

function Member({ member: { user, outcome, reason, archives, keeps } }: { member: PreviewedMember }) {
  const t = useTranslations('admin.termEnd')
  const { bytes } = useQuantities()
  const nameOf = useTypeName()
  const archived = archives.map(({ type, bytes: size }) =>
    size === null ? nameOf(type) : `${nameOf(type)} (${bytes(size)})`,
  )
  return (
    <li className="row">
      <div>
        <h3 className="address">{user.email}</h3>
        <ul className="dotted hint">
          <li>{t(`outcome.${outcome}`)}</li>
          {reason !== null && <li>{t(`reason.${reason}`)}</li>}
          {archived.length > 0 && <li>{t('archives', { types: archived.join(', ') })}</li>}
          {keeps.length > 0 && <li>{t('keeps', { types: keeps.map(nameOf).join(', ') })}</li>}
        </ul>
      </div>
    </li>
  )
}
