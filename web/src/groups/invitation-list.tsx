import type { GroupInvitation } from '@berth/api/schemas/groups/group-invitations.ts'
import { useId, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskButton } from '#/components/ask-button.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { NextPageButton } from '#/components/paged-list.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { useInvitations, useInvitationsChanged } from './use-members.ts'

interface InvitationListProps {
  id: string
  isOff: boolean
}

/** Invitations that are not accepted yet; not on the page while there is none, unless one was withdrawn there. */
export function InvitationList({ id, isOff }: InvitationListProps) {
  const t = useTranslations('groups.invitations')
  const label = useId()
  const query = useInvitations(id)
  const status = useRef<HTMLParagraphElement>(null)
  const [outcome, setOutcome] = useState<string>()
  const all = query.data?.pages.flatMap(({ invitations }) => invitations) ?? []
  if (all.length === 0 && outcome === undefined) return <Alert error={query.error ?? undefined} />
  return (
    <section className="part" aria-labelledby={label}>
      <h2 id={label}>{t('title')}</h2>
      <p role="status" ref={status} tabIndex={-1} className="live">
        {outcome}
      </p>
      <ul className="rows">
        {all.map((each) => (
          <InvitationRow
            key={each.id}
            groupId={id}
            invitation={each}
            isOff={isOff}
            onWithdraw={() => {
              setOutcome('')
              status.current?.focus({ preventScroll: true })
            }}
            onWithdrawn={setOutcome}
          />
        ))}
      </ul>
      <NextPageButton query={query} />
    </section>
  )
}

interface InvitationRowProps {
  groupId: string
  invitation: GroupInvitation
  isOff: boolean
  /** Called before the withdrawal: the row goes away with the focus in it. */
  onWithdraw(): void
  /** @param message of the server */
  onWithdrawn(message: string): void
}

function InvitationRow({ groupId, invitation, isOff, onWithdraw, onWithdrawn }: InvitationRowProps) {
  const t = useTranslations('groups.invitations')
  const { busy, error, run } = useTask()
  const [outcome, setOutcome] = useState<string>()
  const changed = useInvitationsChanged(groupId)
  const { id, email, name, role, created_at: at, invited_by: by } = invitation
  const params = { id: groupId, invitation_id: String(id) }

  function resend() {
    setOutcome(undefined)
    void run(async (signal) => setOutcome((await createApiClient(signal).resendGroupInvitation({ params })).message))
  }
  function withdraw() {
    onWithdraw()
    void run(async (signal) => {
      onWithdrawn((await createApiClient(signal).withdrawGroupInvitation({ params })).message)
      await changed()
    })
  }
  return (
    <li className="row invitation-row">
      <div>
        <h3 className="address">
          {name ?? email} {role === 'manager' && <span className="badge">{t('asManager')}</span>}
        </h3>
        {name !== null && <p className="hint address">{email}</p>}
        <p className="hint">{t.rich('by', { by, at: rich.time(at) })}</p>
        <Alert error={error} />
        <p role="status">{outcome}</p>
      </div>
      <div className="member-actions">
        <Button variant="small" isOff={isOff || busy} onPress={resend}>
          <ShortLabel text={t('resend')} name={t('resendTo', { email })} />
        </Button>
        <AskButton
          text={t('withdraw')}
          name={t('withdrawOf', { email })}
          isOff={isOff || busy}
          title={t('ask.title', { email })}
          onConfirm={withdraw}
        >
          <p>{t('ask.effect')}</p>
        </AskButton>
      </div>
    </li>
  )
}
