import { memo, useEffect, useId, useRef } from 'react'
import { useTranslations } from 'use-intl/react'
import type { ContainerEvent, DiskEvent, VisitorsEvent } from '@berth/api/schemas/container.ts'
import { openUrlOf } from '#/launch/landing-url.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { canAct, isSignInLostOnLeave } from '#/api/api-client.ts'
import { CardActions } from '#/components/container-card/card-actions.tsx'
import { CardDialogs, type CardDialogsHandle } from '#/components/container-card/card-dialogs.tsx'
import { CardNotes, DiskNote } from '#/components/container-card/card-notes.tsx'
import { CardState, needsHelp } from '#/components/container-card/card-state.tsx'
import { IdleAnnouncement, IdleNote } from '#/components/container-card/idle-note.tsx'
import { useStageSentence } from '#/components/launch/launch-progress.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { actionsFor, statusView } from '#/containers/container-status.ts'
import { useLifecycle } from '#/containers/use-lifecycle.ts'
import { useAutoOpen } from '#/launch/use-auto-open.ts'
import type { ChosenParameters } from '#/launch/chosen-parameters.ts'
import { isUnderWay, type LaunchState } from '#/launch/launch-state.ts'
import type { IdleWarning } from '#/events/event-reducer.ts'

interface ContainerCardProps {
  entry: ContainerEntry
  /**
   * No container of this user can be launched, and the page says so once; the entry of a type without a record does not
   * say it.
   */
  isAccountBlocked: boolean
  /** What events reported last: the launch, the status, a nearly full home, a warning of idle suspension. */
  launch: LaunchState | undefined
  status: ContainerEvent['status'] | undefined
  /** Why it does not run, where an event gave the reason. */
  reason: string | undefined
  disk: DiskEvent | undefined
  idle: IdleWarning | undefined
  /** Who has it open now by a share; undefined when no visitor is there. */
  visitors: VisitorsEvent['visitors'] | undefined
  /** Id of the note that says why this page can change nothing. */
  signInNote: string
}

/** What is under way, as a key of `dashboard.status`. */
const busyWords = { launch: 'launching', restart: 'restartingNow', stop: 'stopping', keep: undefined } as const

/** One container type: its description, its status, and its actions. */
export const ContainerCard = memo(function ContainerCard(props: ContainerCardProps) {
  const { isAccountBlocked, launch: launchState, disk, idle, visitors } = props
  const entry = isAccountBlocked ? { ...props.entry, is_blocked: true } : props.entry
  const { display_name: name, type } = entry
  const t = useTranslations('dashboard')
  const stageSentence = useStageSentence()
  const heading = useId()
  const card = useRef<HTMLElement>(null)
  const dialogs = useRef<CardDialogsHandle>(null)
  const { verb, done, doneAt, failure, start, cancelLaunch } = useLifecycle(entry, launchState?.event)
  const isStarting = isUnderWay(launchState?.event)
  const isStarted = launchState?.event.stage === 'waiting' || launchState?.event.stage === 'ready'
  const hasFailed = failure !== undefined || launchState?.event.stage === 'failed'
  const opening = useAutoOpen({
    type,
    within: card,
    stage: launchState?.event.stage,
    answeredAt: done === 'launch' ? doneAt : undefined,
    isOver: hasFailed || (verb === undefined && done !== 'launch' && !isStarting && !isStarted),
    open: () => location.assign(openUrlOf(entry)),
  })

  const isLaunching = isStarting || verb === 'launch' || verb === 'restart'
  const isRunning = entry.status === 'running'
  // Its program runs; whether its app answers is not known yet.
  const isAwaited = isRunning && launchState?.event.stage === 'waiting'
  const busyWord = (verb && busyWords[verb]) ?? (isStarting || isAwaited ? 'starting' : undefined)
  const view = statusView(entry, props.status)
  const word = busyWord ?? view.word
  const warning = isRunning && !isLaunching ? idle : undefined
  const isFirst = entry.created_at === null
  const disabledReasonId = canAct() ? undefined : props.signInNote

  // The button "Keep it running" went away with the warning.
  useEffect(() => {
    if (done === 'keep' && document.activeElement === document.body) card.current?.focus()
  }, [done, idle])

  function launch(chosen?: ChosenParameters) {
    // Leaving the page would end a sign-in that exists on this page alone.
    if (!isSignInLostOnLeave()) opening.ask()
    start('launch', chosen)
  }

  // The button goes away, so the focus moves first.
  function stay() {
    card.current?.focus()
    opening.stay()
  }

  return (
    <li className="card">
      <article ref={card} aria-labelledby={heading} tabIndex={-1}>
        <div className="card-head">
          <h2 id={heading}>{name}</h2>
          <StatusBadge word={word ? t(`status.${word}`) : entry.status} tone={busyWord ? 'busy' : view.tone} />
        </div>
        <CardState
          labelledBy={heading}
          failure={failure}
          takesFocus={entry.is_blocked}
          progress={
            isLaunching || isAwaited || opening.isAsked
              ? {
                  launch: launchState,
                  otherwise: isFirst ? t('hint.firstLaunch') : t(`status.${busyWord ?? 'starting'}`),
                }
              : undefined
          }
          onStay={opening.isAsked ? stay : undefined}
          about={t('failure.subject', { name })}
        >
          <p>{entry.description}</p>
          <CardNotes
            entry={entry}
            hint={isLaunching || isRunning ? undefined : (props.reason ?? (view.hint && t(`hint.${view.hint}`)))}
            isShort={warning !== undefined}
            isBlockSaid={isAccountBlocked}
          />
          <DiskNote event={disk} />
          {visitors && <p className="note">{t('visitors', { count: visitors.length })}</p>}
          {warning && (
            <IdleNote
              warning={warning}
              isOff={verb !== undefined || disabledReasonId !== undefined}
              describedBy={disabledReasonId}
              onKeep={() => start('keep')}
            />
          )}
        </CardState>
        <CardActions
          entry={entry}
          can={actionsFor(entry, { isStarting: isLaunching })}
          isBusy={verb !== undefined || isStarting}
          disabledReasonId={disabledReasonId}
          isSecondary={needsHelp(failure)}
          onLaunch={() => (entry.parameters ? dialogs.current?.open('launch') : launch())}
          onRestart={() => dialogs.current?.open('restart')}
          onStop={() => (isLaunching ? cancelLaunch() : dialogs.current?.open('stop'))}
          onLogs={() => dialogs.current?.open('logs')}
        />
        <p aria-live="polite" className="visually-hidden">
          {busyWord
            ? `${name}: ${stageSentence(launchState?.began) || t(`status.${busyWord}`)}`
            : done && !hasFailed && t(`done.${done}`, { name })}
        </p>
        <IdleAnnouncement name={name} warning={isRunning ? idle : undefined} />
      </article>
      <CardDialogs
        ref={dialogs}
        name={name}
        type={type}
        parameters={entry.parameters}
        onLaunch={launch}
        onConfirm={start}
      />
    </li>
  )
})
