import { memo, useEffect, useId, useRef } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import type { ContainerEvent, DiskEvent } from '@berth/api/container.ts'
import type { ContainerEntry } from '@berth/api/user.ts'
import { canAct, endsWithPage } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { CardActions } from '#/components/card-actions.tsx'
import { CardDialogs, type CardDialogsHandle } from '#/components/card-dialogs.tsx'
import { CardNotes } from '#/components/card-notes.tsx'
import { AskButton, canBeAsked } from '#/components/ask.tsx'
import { DiskNote } from '#/components/disk-note.tsx'
import { IdleAnnouncement, IdleNote } from '#/components/idle-note.tsx'
import { LaunchFailure } from '#/components/launch-failure.tsx'
import { OpeningNote } from '#/components/opening-note.tsx'
import { StageProgress, useStageSentence } from '#/components/stage-progress.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { actionsFor, statusView } from '#/container-status.ts'
import { useLifecycle } from '#/hooks/use-lifecycle.ts'
import { useOpening } from '#/hooks/use-opening.ts'
import { helpAfter } from '#/launch-words.ts'
import { isUnderWay, type LaunchState } from '#/launches.ts'
import type { IdleWarning } from '#/told.ts'

interface ContainerCardProps {
  entry: ContainerEntry
  /** What was told of it last: its launch, where it stands, that its home has nearly no room, that it is about to rest. */
  launch: LaunchState | undefined
  status: ContainerEvent['status'] | undefined
  disk: DiskEvent | undefined
  idle: IdleWarning | undefined
  canRestart: boolean
  /** Says why nothing can be changed from this page, by id. */
  signInNote: string
}

/** Words for what is under way, in `dashboard.status`. */
const busyWords = { launch: 'launching', restart: 'restartingNow', stop: 'stopping', keep: undefined } as const

/** One container type: what it is, how it is, and what can be done with it. */
export const ContainerCard = memo(function ContainerCard(props: ContainerCardProps) {
  const { entry, launch: told, disk, idle, canRestart } = props
  const { display_name: name, type } = entry
  const t = useTranslations('dashboard')
  const stageSentence = useStageSentence()
  const heading = useId()
  const card = useRef<HTMLElement>(null)
  const dialogs = useRef<CardDialogsHandle>(null)
  const { verb, done, doneAt, failure, start, giveUp } = useLifecycle(entry, told?.event)
  const isStarting = isUnderWay(told?.event)
  const isStarted = told?.event.stage === 'waiting' || told?.event.stage === 'ready'
  const hasFailed = failure !== undefined || told?.event.stage === 'failed'
  const opening = useOpening({
    within: card,
    stage: told?.event.stage,
    answeredAt: done === 'launch' ? doneAt : undefined,
    isOver: hasFailed || (verb === undefined && done !== 'launch' && !isStarting && !isStarted),
    open: () => location.assign(`${entry.service_url}/`),
  })

  const isLaunching = isStarting || verb === 'launch' || verb === 'restart'
  const busyWord = (verb && busyWords[verb]) ?? (isStarting ? 'starting' : undefined)
  const view = statusView(entry, props.status)
  const word = busyWord ?? view.word
  const isRunning = entry.status === 'running'
  const reason = failure instanceof ApiError ? failure.body.reason : undefined
  const needsHelp = failure !== undefined && helpAfter(reason) === 'contact' && canBeAsked
  const offBecause = canAct() ? undefined : props.signInNote

  // What it was kept by went away with the warning.
  useEffect(() => {
    if (done === 'keep' && document.activeElement === document.body) card.current?.focus()
  }, [done, idle])

  function launch() {
    // Leaving would end a sign-in that lives on this page alone.
    if (!endsWithPage()) opening.ask()
    start('launch')
  }

  // The button goes away, so the focus must leave it first.
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
        <p>{entry.description}</p>
        <CardNotes entry={entry} hint={isStarting ? undefined : isLaunching ? 'patience' : view.hint} />
        <DiskNote event={disk} />
        {idle && isRunning && !isLaunching && (
          <IdleNote
            warning={idle}
            isOff={verb !== undefined || offBecause !== undefined}
            describedBy={offBecause}
            onKeep={() => start('keep')}
          />
        )}
        {(isStarting || isRunning) && <StageProgress launch={told} />}
        <Alert error={failure} takesFocus={entry.is_blocked} />
        <LaunchFailure error={failure} />
        {opening.isAsked && <OpeningNote onStay={stay} />}
        <CardActions
          entry={entry}
          can={actionsFor(entry, { canRestart, isStarting: isLaunching })}
          isBusy={verb !== undefined || isStarting}
          offBecause={offBecause}
          lead={needsHelp && <AskButton about={t('failure.subject', { name })} />}
          isRetry={reason !== undefined}
          onLaunch={launch}
          onRestart={() => dialogs.current?.open('restart')}
          onStop={() => (isLaunching ? giveUp() : dialogs.current?.open('stop'))}
          onLogs={() => dialogs.current?.open('logs')}
        />
        <p aria-live="polite" className="visually-hidden">
          {busyWord
            ? `${name}: ${stageSentence(told?.began) || t(`status.${busyWord}`)}`
            : done && t(`done.${done}`, { name })}
        </p>
        <IdleAnnouncement name={name} warning={isRunning ? idle : undefined} />
      </article>
      <CardDialogs ref={dialogs} name={name} type={type} onConfirm={start} />
    </li>
  )
})
