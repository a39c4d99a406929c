import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { InvitationsResponse } from '@berth/api/invitations.ts'
import { connect } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/hooks/use-task.ts'
import { isOnePage, queries } from '#/queries.ts'
import { addressesIn, inParts } from './addresses.ts'
import { InviteResults } from './invite-results.tsx'

export type Invited = InvitationsResponse['invitations'][number]

/** Milliseconds that a hundred mails may take. */
const limit = 120_000

/** Accounts for many: addresses are pasted, a hundred go at a time, and what became of each is shown. */
export function InviteDialog({ onClose }: { onClose(): void }) {
  const t = useTranslations('admin.users.invite')
  const words = useTranslations('admin.table')
  const [text, setText] = useState('')
  const [isMailed, setMailed] = useState(true)
  const [asked, setAsked] = useState<readonly string[]>([])
  const [invited, setInvited] = useState<readonly Invited[]>([])
  const { busy, error, run, reset } = useTask()
  const field = useId()
  const addresses = addressesIn(text)

  function invite() {
    if (addresses.length === 0) return
    setAsked(addresses)
    setInvited([])
    void run(async (signal) => {
      try {
        for (const part of inParts(addresses)) {
          const answer = await connect(signal, limit).invite({ body: { emails: [...part], send: isMailed } })
          setInvited((before) => [...before, ...answer.invitations])
        }
      } finally {
        // They are users now. Who looks at many pages of the list is left where they are.
        void queries.invalidateQueries({ queryKey: ['users', 'count'] })
        void queries.invalidateQueries({ queryKey: ['users', 'rows'], predicate: isOnePage })
      }
    })
  }

  return (
    <Dialog title={t('title')} look="wide" onClose={onClose}>
      {(close) =>
        asked.length === 0 ? (
          <form
            className="action-form"
            noValidate
            onSubmit={(event) => {
              event.preventDefault()
              invite()
            }}
          >
            <p>{t('words')}</p>
            <label htmlFor={field}>{t('addresses')}</label>
            <textarea
              id={field}
              rows={8}
              aria-describedby={`${field}-hint`}
              value={text}
              spellCheck={false}
              autoCapitalize="none"
              onChange={(event) => setText(event.target.value)}
            />
            <p className="hint" id={`${field}-hint`}>
              {t('addressesHint')}
            </p>
            <p className="hint" role="status">
              {t('found', { count: addresses.length })}
            </p>
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
            <div className="actions end">
              <Button onPress={close}>{words('cancel')}</Button>
              <button type="submit" className="button primary" aria-disabled={addresses.length === 0}>
                {t('confirm', { count: addresses.length })}
              </button>
            </div>
          </form>
        ) : (
          <>
            {busy && (
              <div className="progress-line">
                <p role="status">{t('busy')}</p>
                <progress aria-label={t('busy')} value={invited.length} max={asked.length} />
                <p className="quiet">{words('progress', { seen: invited.length, total: asked.length })}</p>
              </div>
            )}
            <Alert error={error} />
            <InviteResults asked={asked} invited={invited} isOver={!busy} />
            <div className="actions end">
              {!busy && (
                <Button
                  onPress={() => {
                    reset()
                    setAsked([])
                    setText('')
                  }}
                >
                  {t('more')}
                </Button>
              )}
              <Button onPress={close}>{busy ? words('cancel') : words('close')}</Button>
            </div>
          </>
        )
      }
    </Dialog>
  )
}
