import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { InvitationsResponse } from '@berth/api/schemas/invitations.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { useTask } from '#/components/use-task.ts'
import { isOnePage, queryClient } from '#/api/query-client.ts'
import { addressBatches } from '#/addresses/parse-addresses.ts'
import { InviteForm, type InvitationDraft } from './invite-form.tsx'
import { InviteResults } from './invite-results.tsx'
import { unansweredOf } from './unanswered.ts'

export type Invited = InvitationsResponse['invitations'][number]

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
              <Button onPress={close}>{busy ? words('cancel') : words('close')}</Button>
            </div>
          </>
        )
      }
    </Dialog>
  )
}
