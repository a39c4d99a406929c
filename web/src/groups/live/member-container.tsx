import { ApiError } from '@berth/api/client.ts'
import { useState } from 'react'
import type { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { ConfirmActions } from '#/components/confirm-actions.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { LaunchFailure } from '#/components/launch/launch-failure.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTask } from '#/components/use-task.ts'
import { LookHint, LookLine } from './look-line.tsx'
import { isUnderWay, toneOf, type ContainerView } from './member-view.ts'
import { useRestart } from './use-restart.ts'

/** Looks up texts of groups. A list has one for all its rows: each use of the hook makes one. */
export type GroupTexts = ReturnType<typeof useTranslations<'groups'>>

interface MemberContainerProps {
  t: GroupTexts
  groupId: string
  /** Of the owner. */
  user: { readonly id: number; readonly email: string }
  container: ContainerView
  isOff: boolean
  /** Nothing of the group is started any more. */
  isEnded: boolean
  /** The viewer may ask for a look at this one. */
  mayAskToLook: boolean
}

/** A container of a member: status, why it failed, and a restart. */
export function MemberContainer({ t, groupId, user, container, isOff, isEnded, mayAskToLook }: MemberContainerProps) {
  const { busy, error, run } = useTask()
  const [failure, setFailure] = useState<ApiError>()
  const [isAsking, setAsking] = useState(false)
  const { name, place, reason, hasOutput } = container
  const { email } = user
  const params = { id: groupId, user_id: String(user.id), container_type: container.type }
  const of = { email, type: name }
  const statusOf = (word: ContainerView['word']) =>
    word === 'queued' && place !== null ? t('live.place', { place }) : t(`members.status.${word}`)
  const { word, wasAsked, restart } = useRestart(params, container, {
    begun: t('live.restarting', of),
    ended: (word) => t('live.restarted', { ...of, status: statusOf(word) }),
  })

  function readFailure() {
    void run(async (signal) => {
      const { message, ...facts } = await createApiClient(signal).readMemberFailure({ params })
      setFailure(new ApiError(500, { error: message, ...facts }))
    })
  }
  const begin = () => void run(restart)
  return (
    <li className="member-container">
      <p className="member-container-state">
        <span className="member-container-name">{name}</span>
        <span className="visually-hidden">: </span>
        <StatusBadge tone={toneOf(word)} word={statusOf(word)} />
      </p>
      <div className="member-container-actions">
        {hasOutput && (
          <Button variant="small" isOff={busy} onPress={readFailure}>
            <span aria-hidden>{t('live.lines')}</span>
            <span className="visually-hidden">{t('live.linesOf', of)}</span>
          </Button>
        )}
        {!isEnded && (canRestart(word) || (wasAsked && isUnderWay(word))) && (
          <Button
            variant="small"
            isOff={isOff || busy || !canRestart(word)}
            onPress={() => (word === 'running' ? setAsking(true) : begin())}
          >
            <span aria-hidden>{t('live.restart')}</span>
            <span className="visually-hidden">{t('live.restartOf', of)}</span>
          </Button>
        )}
        {mayAskToLook && <LookLine t={t} params={params} user={user} container={container} isOff={isOff} />}
      </div>
      {reason !== null && word === container.word && <p className="hint">{reason}</p>}
      {mayAskToLook && <LookHint t={t} container={container} />}
      <Alert error={error} />
      {failure && (
        <Dialog title={t('live.failureOf', of)} variant="wide" onClose={() => setFailure(undefined)}>
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
        <Dialog title={t('live.askRestart.title', of)} onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p>{t('live.askRestart.effect')}</p>
              <ConfirmActions cancel={t('act.cancel')} confirm={t('live.restart')} close={close} onConfirm={begin} />
            </>
          )}
        </Dialog>
      )}
    </li>
  )
}

/** What never ran has nothing to replace, and a launch that is under way ends first. */
const canRestart = (word: ContainerView['word']) => word === 'running' || word === 'paused' || word === 'failed'
