import { ApiError } from '@berth/api/client.ts'
import { useState } from 'react'
import type { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { LaunchFailure } from '#/components/launch/launch-failure.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTask } from '#/components/use-task.ts'
import { LookLine } from './look-line.tsx'
import type { ContainerView } from './member-view.ts'

/** Looks up texts of groups. A list has one for all its rows: each use of the hook makes one. */
export type GroupTexts = ReturnType<typeof useTranslations<'groups'>>

interface MemberContainerProps {
  t: GroupTexts
  groupId: string
  /** Of the owner. */
  user: { readonly id: number; readonly email: string }
  container: ContainerView
  isOff: boolean
  /** The viewer may ask for a look at this one. */
  mayAskToLook: boolean
}

/** A container of a member: status, why it failed, and a restart. */
export function MemberContainer({ t, groupId, user, container, isOff, mayAskToLook }: MemberContainerProps) {
  const { busy, error, run } = useTask()
  const [failure, setFailure] = useState<ApiError>()
  const [isAsking, setAsking] = useState(false)
  const { type, word, tone, place, reason, hasOutput } = container
  const { email } = user
  const params = { id: groupId, user_id: String(user.id), container_type: type }

  function readFailure() {
    void run(async (signal) => {
      const { message, ...facts } = await createApiClient(signal).readMemberFailure({ params })
      setFailure(new ApiError(500, { error: message, ...facts }))
    })
  }
  function restart() {
    void run(async (signal) => {
      await createApiClient(signal).restartMember({ params })
    })
  }
  const status = word === 'queued' ? t('live.place', { place: place ?? 0 }) : t(`members.status.${word}`)
  return (
    <li className="member-container">
      <div className="member-container-line">
        <StatusBadge tone={tone} word={t('members.containers.one', { type, status })} />
        {hasOutput && (
          <Button variant="small" isOff={busy} onPress={readFailure}>
            <span aria-hidden>{t('live.lines')}</span>
            <span className="visually-hidden">{t('live.linesOf', { email, type })}</span>
          </Button>
        )}
        {canRestart(container) && (
          <Button
            variant="small"
            isOff={isOff || busy}
            onPress={() => (word === 'running' ? setAsking(true) : restart())}
          >
            <span aria-hidden>{t('live.restart')}</span>
            <span className="visually-hidden">{t('live.restartOf', { email, type })}</span>
          </Button>
        )}
        {mayAskToLook && <LookLine t={t} params={params} user={user} container={container} isOff={isOff} />}
      </div>
      {reason !== null && <p className="hint">{reason}</p>}
      <Alert error={error} />
      {failure && (
        <Dialog title={t('live.failureOf', { email, type })} variant="wide" onClose={() => setFailure(undefined)}>
          {(close) => (
            <>
              <p>{failure.message}</p>
              <LaunchFailure error={failure} />
              <p className="hint">{t('live.audited')}</p>
              <div className="actions end">
                <Button onPress={close}>{t('add.close')}</Button>
              </div>
            </>
          )}
        </Dialog>
      )}
      {isAsking && (
        <Dialog title={t('live.askRestart.title', { email, type })} onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p>{t('live.askRestart.effect')}</p>
              <ConfirmActions cancel={t('act.cancel')} confirm={t('live.restart')} close={close} onConfirm={restart} />
            </>
          )}
        </Dialog>
      )}
    </li>
  )
}

/** What never ran has nothing to replace, and a launch that is under way ends first. */
const canRestart = ({ word }: ContainerView) => word === 'running' || word === 'paused' || word === 'failed'
