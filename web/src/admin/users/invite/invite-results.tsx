import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useTranslations } from 'use-intl/react'
import { copyToClipboard } from '#/components/clipboard.ts'
import type { Invited } from './invite-dialog.tsx'
import { unansweredOf } from './unanswered.ts'

interface InviteResultsProps {
  asked: readonly string[]
  /** The results so far. */
  invited: readonly Invited[]
  isOver: boolean
}

const needsWork: ReadonlySet<Invited['status'] | 'waiting'> = new Set(['invalid', 'failed', 'waiting'])

/** The result of each address, and the links where they were not mailed. */
export function InviteResults({ asked, invited, isOver }: InviteResultsProps) {
  const t = useTranslations('admin.users.invite')
  const words = useTranslations('admin.table')
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
          <CopyButton
            text={links.map(({ email, link }) => `${email}\t${link}`).join('\n')}
            label={t('copyAll')}
            copied={t('copiedAll')}
          />
        </div>
      )}
      <div
        className="results"
        role="region"
        aria-label={t('results')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard (WCAG 2.2, 2.1.1)
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
                    {link !== undefined && (
                      <CopyButton
                        text={link}
                        label={words('copy')}
                        copied={words('copied')}
                        about={t('copyOf', { email })}
                      />
                    )}
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
  label: string
  copied: string
  /** The full label for screen readers, which may read it outside its row. */
  about?: string
}

/** Copies text that is not on the page. Where the browser does not copy it, the text is shown, to be copied by hand. */
function CopyButton({ text, label, copied, about }: CopyButtonProps) {
  const t = useTranslations('tokens.fresh')
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
        {label}
      </button>
      {outcome === 'selected' && <code ref={shown}>{text}</code>}
      <span role="status" className="muted">
        {outcome === 'copied' ? copied : outcome && t('selected')}
      </span>
    </span>
  )
}
