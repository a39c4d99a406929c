import { useEffect, useRef, useState } from 'react'
import { useFormatter } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button, ShortLabel } from '#/components/button.tsx'
import { ConfirmDialog, Dialog, EndButton } from '#/components/dialog.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { useTask } from '#/components/use-task.ts'
import { LaunchFailure } from '#/launch/launch-progress.tsx'
import { serverNow } from '#/time/time.tsx'
import { useAnnounce } from './announcements.tsx'
import type { GroupTexts } from './member-row.tsx'
import { isUnderWay, toneOf, type ContainerView, type StatusWord } from './member-view.ts'

interface MemberContainerProps {
  t: GroupTexts
  groupId: string
  /** The owner. */
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
      {reason !== null && word === container.word && <p className="hint">{reason}</p>}
      <div className="member-container-actions">
        {hasOutput && (
          <Button variant="small" isOff={busy} onPress={readFailure}>
            <ShortLabel text={t('live.lines')} name={t('live.linesOf', of)} />
          </Button>
        )}
        {!isEnded && (canRestart(word) || (wasAsked && isUnderWay(word))) && (
          <Button
            variant="small"
            isOff={isOff || busy || !canRestart(word)}
            onPress={() => (word === 'running' ? setAsking(true) : begin())}
          >
            <ShortLabel text={t('live.restart')} name={t('live.restartOf', of)} />
          </Button>
        )}
        {mayAskToLook && <LookLine t={t} params={params} user={user} container={container} isOff={isOff} />}
      </div>
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
                <EndButton word="close" onPress={close} />
              </div>
            </>
          )}
        </Dialog>
      )}
      {isAsking && (
        <ConfirmDialog
          title={t('live.askRestart.title', of)}
          confirm={t('live.restart')}
          onConfirm={begin}
          onClose={() => setAsking(false)}
        >
          <p>{t('live.askRestart.effect')}</p>
        </ConfirmDialog>
      )}
    </li>
  )
}

/** What never ran has nothing to replace, and a launch that is under way ends first. */
const canRestart = (word: ContainerView['word']) => word === 'running' || word === 'paused' || word === 'failed'

interface LookLineProps {
  t: GroupTexts
  params: { id: string; user_id: string; container_type: string }
  /** The owner. */
  user: { readonly email: string }
  container: ContainerView
  isOff: boolean
}

/** Asks a member for a look at a container that runs, and leads to what the member has opened. */
function LookLine(props: LookLineProps) {
  const { t, user, container } = props
  const { name, word, look } = container
  if (look?.state === 'open')
    return (
      <a className="button small" href={look.url ?? undefined} target="_blank" rel="noreferrer">
        <ShortLabel text={t('live.lookOpen')} name={t('live.lookOpenAt', { email: user.email, type: name })} />
      </a>
    )
  // A look starts nothing, so there is something to see only where it runs. What was asked stays where the focus may
  // be.
  return look || word === 'running' || word === 'paused' ? <Ask {...props} /> : null
}

function Ask({ t, params, user: { email }, container: { name, look: known }, isOff }: LookLineProps) {
  const look = useOpenQuestion(known)
  const { busy, error, run } = useTask()
  const announce = useAnnounce()

  function ask() {
    void run(async (signal) => {
      await createApiClient(signal).askToLook({ params })
      announce(t('live.lookAsked'))
    })
  }
  return (
    <>
      <Button variant="small" isOff={isOff || busy || look !== null} onPress={ask}>
        <ShortLabel text={t('live.look')} name={t('live.lookAt', { email, type: name })} />
      </Button>
      <Alert error={error} />
    </>
  )
}

/** What is known of a look, without a question that is over: after five minutes it can be asked again. */
function useOpenQuestion(look: ContainerView['look']): ContainerView['look'] {
  const [over, setOver] = useState<string>()
  const until = look?.state === 'asked' ? look.until : undefined
  useEffect(() => {
    if (until === undefined) return undefined
    const timer = setTimeout(() => setOver(until), Math.max(0, Date.parse(until) - serverNow()))
    return () => clearTimeout(timer)
  }, [until])
  return until !== undefined && over === until ? null : look
}

/** What became of a question for a look. */
function LookHint({ t, container: { look: known } }: Pick<LookLineProps, 't' | 'container'>) {
  const format = useFormatter()
  const look = useOpenQuestion(known)
  if (!look) return null
  const at = format.dateTime(new Date(look.until), { timeStyle: 'short' })
  const words = {
    asked: t('live.lookAsked'),
    declined: t('live.lookDeclined', { at }),
    open: t('live.lookUntil', { at }),
  }
  return <p className="hint">{words[look.state]}</p>
}

interface Sentences {
  readonly begun: string
  ended(word: StatusWord): string
}

/** A restart of a member's container, as its row shows it. */
interface Restart {
  /**
   * What the container does, or `starting` from the press until the next state: what fails at once looked as if nothing
   * had happened.
   */
  readonly word: StatusWord
  /** It was restarted here before, so that its button stays while a launch is under way, and keeps the focus. */
  readonly wasAsked: boolean
  /** Resolves when the restart has begun. @throws what the API answers */
  restart(signal: AbortSignal): Promise<void>
}

/** @param container the same object until the stream reports another state */
function useRestart(
  params: { id: string; user_id: string; container_type: string },
  container: ContainerView,
  say: Sentences,
): Restart {
  const announce = useAnnounce()
  const [before, setBefore] = useState<ContainerView>()
  const [wasAsked, setAsked] = useState(false)
  /** The user has not been told how it ended. */
  const isDue = useRef(false)
  const word = before === container ? 'starting' : container.word
  const ended = say.ended(word)

  useEffect(() => {
    if (!isDue.current || isUnderWay(word)) return
    isDue.current = false
    announce(ended)
  }, [word, ended, announce])

  async function restart(signal: AbortSignal): Promise<void> {
    setBefore(container)
    setAsked(true)
    isDue.current = true
    announce(say.begun)
    try {
      await createApiClient(signal).restartMember({ params })
    } catch (error) {
      isDue.current = false
      setBefore(undefined)
      throw error
    }
  }
  return { word, wasAsked, restart }
}
