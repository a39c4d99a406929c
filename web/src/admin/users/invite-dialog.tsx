import { useId, useMemo, useRef, useState, type ChangeEvent } from 'react'
import { flushSync } from 'react-dom'
import { useTranslations } from 'use-intl/react'
import { languages, type Language } from '@berth/api/boot.ts'
import type { InvitationsResponse } from '@berth/api/schemas/invitations.ts'
import { ColumnChoice, LineList } from '#/addresses/address-lines.tsx'
import { readTextFile } from '#/addresses/find-addresses.ts'
import { createApiClient } from '#/api/api-client.ts'
import { isOnePage, queryClient } from '#/api/query-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { copyToClipboard } from '#/components/clipboard.ts'
import { Dialog, EndButton } from '#/components/dialog.tsx'
import { Field } from '#/components/field.tsx'
import { useTask } from '#/components/use-task.ts'
import { useLanguage } from '#/i18n/i18n-provider.tsx'
import { addressBatches, parseAddresses, unansweredOf } from './invited-addresses.ts'

type Invited = InvitationsResponse['invitations'][number]

/** Timeout of a hundred mails in ms. */
const limit = 120_000

/** Invites many users: addresses are pasted, sent a hundred at a time, and each result is shown. */
export function InviteDialog({ onClose }: { onClose(): void }) {
  const t = useTranslations('admin.users.invite')
  const words = useTranslations('admin.table')
  const [asked, setAsked] = useState<readonly string[]>([])
  const [invited, setInvited] = useState<readonly Invited[]>([])
  /** What the last attempt has left, a line each. */
  const [left, setLeft] = useState('')
  const { busy, error, run, reset } = useTask()

  function invite({ addresses, isMailed, language }: InvitationDraft) {
    setAsked(addresses)
    setInvited([])
    void run(async (signal) => {
      try {
        for (const part of addressBatches(addresses)) {
          const answer = await createApiClient(signal, limit).invite({
            body: { emails: [...part], send: isMailed, language },
          })
          setInvited((before) => [...before, ...answer.invitations])
        }
      } finally {
        // They are users now. A list with many loaded pages is not refetched.
        void queryClient.invalidateQueries({ queryKey: ['users', 'count'] })
        void queryClient.invalidateQueries({ queryKey: ['users', 'rows'], predicate: isOnePage })
      }
    })
  }

  return (
    <Dialog title={t('title')} variant="wide" onClose={onClose}>
      {(close) =>
        asked.length === 0 ? (
          <InviteForm initialText={left} onInvite={invite} onCancel={close} />
        ) : (
          <>
            {busy && (
              <div className="progress-line">
                <p role="status">{t('busy')}</p>
                <progress aria-label={t('busy')} value={invited.length} max={asked.length} />
                <p className="muted">{words('progress', { seen: invited.length, total: asked.length })}</p>
              </div>
            )}
            <Alert error={error} />
            <InviteResults asked={asked} invited={invited} isOver={!busy} />
            <div className="actions end">
              {!busy && (
                <Button
                  onPress={() => {
                    reset()
                    // A mail that was not accepted can be tried again, as its row says.
                    const settled = invited.filter(({ status }) => status !== 'failed')
                    setLeft(unansweredOf(asked, settled).join('\n'))
                    setAsked([])
                  }}
                >
                  {t('more')}
                </Button>
              )}
              <EndButton word={busy ? 'cancel' : 'close'} onPress={close} />
            </div>
          </>
        )
      }
    </Dialog>
  )
}

/** Whom to invite, and how. */
interface InvitationDraft {
  /** One at least. */
  readonly addresses: readonly string[]
  readonly isMailed: boolean
  /** The language of the mails. */
  readonly language: Language
}

interface InviteFormProps {
  /** Stands in the field at first: what an earlier attempt has left. */
  initialText: string
  onInvite(wish: InvitationDraft): void
  onCancel(): void
}

/** Addresses from a file or pasted text, with what was found in them before anything is sent. */
function InviteForm({ initialText, onInvite, onCancel }: InviteFormProps) {
  const t = useTranslations('admin.users.invite')
  const nameOf = useTranslations('frame.language')
  const [text, setText] = useState(initialText)
  const [isUnreadable, setUnreadable] = useState(false)
  const [isMailed, setMailed] = useState(true)
  const [language, setLanguage] = useState(useLanguage())
  const field = useId()
  const [column, setColumn] = useState<string>()
  const found = useMemo(() => parseAddresses(text, column), [text, column])
  const { addresses, rejected, columns } = found
  const rejectedTitle = t('rejected', { count: rejected.length })

  async function addFile({ target }: ChangeEvent<HTMLInputElement>) {
    const [file] = target.files ?? []
    const read = file && (await readTextFile(file))
    setUnreadable(file !== undefined && read === undefined)
    if (read !== undefined) setText((before) => (before.trim() === '' ? read : `${before.trimEnd()}\n${read}`))
  }

  return (
    <form
      className="action-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (addresses.length > 0) onInvite({ addresses, isMailed, language })
      }}
    >
      <p>{t('text')}</p>
      <Field label={t('addresses')} hint={t('addressesHint')} className={null}>
        {(control) => (
          <textarea
            {...control}
            rows={8}
            value={text}
            spellCheck={false}
            autoCapitalize="none"
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <label className="file-line">
        {t('file')}
        <input
          type="file"
          accept=".csv,.tsv,.txt,text/csv,text/plain"
          // The same file can be chosen again after a correction, and its name stays beside the field.
          onClick={({ currentTarget }) => (currentTarget.value = '')}
          onChange={(event) => void addFile(event)}
        />
      </label>
      <ColumnChoice
        id={`${field}-column`}
        found={found}
        className="file-line"
        isOff={false}
        words={{ label: t('column', { count: columns.length }), choose: t('chooseColumn'), all: t('allColumns') }}
        onChoose={setColumn}
      />
      <div role="status">
        {isUnreadable && <p className="danger-text">{t('fileUnreadable')}</p>}
        <p className="hint">{t('found', { count: addresses.length })}</p>
        {rejected.length > 0 && <p>{rejectedTitle}</p>}
      </div>
      <LineList label={rejectedTitle} lines={rejected} />
      <fieldset className="choices">
        <legend>{t('how')}</legend>
        <label className="check-line">
          <input type="radio" name={field} checked={isMailed} onChange={() => setMailed(true)} />
          {t('send')}
        </label>
        <label className="check-line">
          <input type="radio" name={field} checked={!isMailed} onChange={() => setMailed(false)} />
          {t('show')}
        </label>
      </fieldset>
      {isMailed && (
        <label className="file-line">
          {t('language')}
          <select
            value={language}
            onChange={({ target }) => setLanguage(languages.find((each) => each === target.value) ?? language)}
          >
            {languages.map((each) => (
              <option key={each} value={each} lang={each}>
                {nameOf(each)}
              </option>
            ))}
          </select>
        </label>
      )}
      <div className="actions end">
        <EndButton word="cancel" onPress={onCancel} />
        <button type="submit" className="button primary" aria-disabled={addresses.length === 0}>
          {t('confirm', { count: addresses.length })}
        </button>
      </div>
    </form>
  )
}

interface InviteResultsProps {
  asked: readonly string[]
  /** The results so far. */
  invited: readonly Invited[]
  isOver: boolean
}

const needsWork: ReadonlySet<Invited['status'] | 'waiting'> = new Set(['invalid', 'failed', 'waiting'])

/** The result of each address, and the links where they were not mailed. */
function InviteResults({ asked, invited, isOver }: InviteResultsProps) {
  const t = useTranslations('admin.users.invite')
  const links = invited.filter(({ link }) => link !== undefined)
  const rest = isOver ? unansweredOf(asked, invited) : []
  const rows = [...invited, ...rest.map((email) => ({ email, status: 'waiting' as const, link: undefined }))]
  // Rows that need action must not be scrolled out of view.
  const refused = rows.filter(({ status }) => needsWork.has(status))
  const ordered = [...refused, ...rows.filter(({ status }) => !needsWork.has(status))]
  return (
    <>
      {isOver && (
        <p role="status">
          <strong>{t('done', { count: invited.filter(({ status }) => status === 'invited').length })}</strong>
          {refused.length > 0 && ` ${t('refused', { count: refused.length })}`}
        </p>
      )}
      {links.length > 0 && (
        <div className="note with-action">
          <span>{t('secret')}</span>
          <CopyButton text={links.map(({ email, link }) => `${email}\t${link}`).join('\n')} label={t('copyAll')} />
        </div>
      )}
      <div
        className="results"
        role="region"
        aria-label={t('results')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region needs a tab stop
        tabIndex={0}
      >
        <table>
          <thead>
            <tr>
              <th>{t('address')}</th>
              <th>{t('result')}</th>
            </tr>
          </thead>
          <tbody>
            {ordered.map(({ email, status, link }) => (
              <tr key={email}>
                <th scope="row" className="address">
                  {email}
                </th>
                <td>
                  <div className="result">
                    <span
                      className={
                        status === 'invited' ? 'success-text' : needsWork.has(status) ? 'danger-text' : 'muted'
                      }
                    >
                      {t(`statuses.${status}`)}
                    </span>
                    {link !== undefined && <CopyButton text={link} about={t('copyOf', { email })} />}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

interface CopyButtonProps {
  text: string
  /** In place of "Copy". */
  label?: string
  /** The full label for screen readers, which may read it outside its row. */
  about?: string
}

/** Copies text that is not on the page. Where the browser does not copy it, the text is shown, to be copied by hand. */
function CopyButton({ text, label, about }: CopyButtonProps) {
  const t = useTranslations('frame.copy')
  const shown = useRef<HTMLElement>(null)
  const [outcome, setOutcome] = useState<'copied' | 'selected'>()
  async function copy() {
    if (await copyToClipboard(text, null)) return setOutcome('copied')
    // On plain http the browser copies what is selected, so it has to be on the page.
    flushSync(() => setOutcome('selected'))
    if (await copyToClipboard(text, shown.current)) setOutcome('copied')
  }
  return (
    <span className="copy">
      <button type="button" className="button small" aria-label={about} onClick={() => void copy()}>
        {label ?? t('button')}
      </button>
      {outcome === 'selected' && <code ref={shown}>{text}</code>}
      <span role="status" className="muted">
        {outcome && t(outcome)}
      </span>
    </span>
  )
}
