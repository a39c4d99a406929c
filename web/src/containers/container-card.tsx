import { memo, useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import type { ContainerEvent, DiskEvent, LayerEvent, VisitorsEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { canAct, isSignInLostOnLeave } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { AskForHelp, AskForHelpButton, canAskForHelp } from '#/components/ask-for-help.tsx'
import { Button } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { TypeSign } from '#/components/type-sign.tsx'
import type { IdleWarning } from '#/events/event-reducer.ts'
import { useEvents } from '#/events/use-events.ts'
import { diskUsageText, formatShare, shareOf } from '#/i18n/regional-formats.ts'
import type { ChosenParameters } from '#/launch/chosen-parameters.ts'
import { AutoOpenNote, LaunchFailure, LaunchProgressBar, useStageSentence } from '#/launch/launch-progress.tsx'
import { helpAfter, isUnderWay, type LaunchState } from '#/launch/launch-state.ts'
import { openUrlOf } from '#/launch/open-container.ts'
import { useAutoOpen } from '#/launch/use-auto-open.ts'
import { signInNote } from '#/page/page.tsx'
import { formatCountdown, secondsUntil } from '#/time/countdown.ts'
import { ShortTime, useNow, useServerNow } from '#/time/time.tsx'
import { CardActions, CardDialogs, type CardDialogsHandle } from './card-actions.tsx'
import { actionsFor, statusView } from './containers.ts'
import { useLifecycle } from './use-containers.ts'

interface ContainerCardProps {
  entry: ContainerEntry
  /**
   * No container of this user can be launched, and the page says so once; the entry of a type without a record does not
   * say it.
   */
  isAccountBlocked: boolean
  /** What events reported last: the launch, the status, a nearly full home, a warning of idle suspension. */
  launch: LaunchState | undefined
  last: ContainerEvent | undefined
  disk: DiskEvent | undefined
  layer: LayerEvent | undefined
  idle: IdleWarning | undefined
  /** Who has it open now by a share; undefined when no visitor is there. */
  visitors: VisitorsEvent['visitors'] | undefined
}

/** What is under way, as a key of `dashboard.status`. */
const busyWords = { launch: 'launching', restart: 'restartingNow', stop: 'stopping', keep: undefined } as const

/** One container type: its description, its status, and its actions. */
export const ContainerCard = memo(function ContainerCard(props: ContainerCardProps) {
  const { isAccountBlocked, launch: launchState, last, disk, layer, idle, visitors } = props
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
  const view = statusView(entry, last?.status)
  const word = busyWord ?? view.word
  const warning = isRunning && !isLaunching ? idle : undefined
  const isFirst = entry.created_at === null
  const disabledReasonId = canAct() ? undefined : signInNote

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
          <TypeSign icon={entry.icon} />
          <h2 id={heading}>{name}</h2>
          <StatusBadge word={word ? t(`status.${word}`) : entry.status} tone={busyWord ? 'busy' : view.tone} />
        </div>
        <CardState
          labelledBy={heading}
          failure={failure}
          isStill={entry.is_blocked}
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
          {entry.description !== '' && <p className="card-about">{entry.description}</p>}
          <CardNotes
            entry={entry}
            last={last}
            hint={
              isLaunching || isRunning || entry.launch_refused !== undefined
                ? undefined
                : (last?.message ?? (view.hint && t(`hint.${view.hint}`)))
            }
            isShort={warning !== undefined}
            isBlockSaid={isAccountBlocked}
          />
          <Meters entry={entry} />
          <DiskNote event={disk} />
          <LayerNote event={layer} />
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
          onFiles={() => dialogs.current?.open('files')}
          onPorts={() => dialogs.current?.open('ports')}
          onLink={() => dialogs.current?.open('link')}
          onConnect={() => dialogs.current?.open('connect')}
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
        address={entry.service_url}
        parameters={entry.parameters}
        onLaunch={launch}
        onConfirm={start}
      />
    </li>
  )
})

interface CardStateProps {
  /** Id of the card's heading. */
  labelledBy: string
  /** Why the last operation failed. */
  failure: unknown
  /** Nothing can be launched, so no room is kept for it. */
  isStill: boolean
  /** The failure takes the focus, because the pressed button is gone. */
  takesFocus: boolean
  /** The operation under way, and its description until a stage is known; undefined when there is none. */
  progress: { readonly launch: LaunchState | undefined; readonly otherwise: string } | undefined
  /** Cancels the automatic opening, where there is one. */
  onStay: (() => void) | undefined
  /** Subject of a mail that asks for help. */
  about: string
  /** Shown while no operation is under way. */
  children: ReactNode
}

/**
 * The changing part of a card, of constant height: the progress of a launch, or why it failed, covers the usual
 * content, so that no card grows and nothing moves under a pointer.
 */
function CardState(props: CardStateProps) {
  const { labelledBy, failure, isStill, takesFocus, progress, onStay, about, children } = props
  const hasFailed = failure !== undefined
  return (
    <div className={isStill && !hasFailed && !progress ? 'card-state still' : 'card-state'}>
      <div className="card-content">{children}</div>
      {progress && !hasFailed && (
        <div className="card-overlay">
          <LaunchProgressBar {...progress} />
          {onStay && <AutoOpenNote onStay={onStay} />}
        </div>
      )}
      {/* Always rendered, because screen readers miss alerts that arrive with their text. Long text scrolls. */}
      <div
        className={hasFailed ? 'card-overlay' : undefined}
        role={hasFailed ? 'group' : undefined}
        aria-labelledby={hasFailed ? labelledBy : undefined}
        // A scrollable region must be reachable by keyboard (WCAG 2.2, 2.1.1).
        tabIndex={hasFailed ? 0 : undefined}
      >
        <Alert error={failure} takesFocus={takesFocus} />
        <div className={hasFailed ? 'failure-more' : undefined}>
          <LaunchFailure error={failure} isFolded />
          {needsHelp(failure) && <AskForHelpButton about={about} />}
        </div>
      </div>
    </div>
  )
}

/** Another launch would not help, and there is a contact. */
const needsHelp = (failure: unknown) =>
  failure instanceof ApiError && helpAfter(failure.body) === 'contact' && canAskForHelp

interface CardNotesProps {
  entry: ContainerEntry
  last: ContainerEvent | undefined
  hint: string | undefined
  /** A more urgent note needs the space of the last launch. */
  isShort: boolean
  /** The page says that the account is blocked, since when and whom to contact. */
  isBlockSaid: boolean
}

/**
 * Notes on a container: that it is blocked, since when and whom to contact; else since when it runs or does not, and what
 * its status means.
 */
function CardNotes({ entry, last, hint, isShort, isBlockSaid }: CardNotesProps) {
  const t = useTranslations('dashboard')
  const { is_blocked: isBlocked, blocked_at: blockedAt, last_used: lastUsed } = entry
  if (isBlocked && isBlockSaid) return null
  if (isBlocked) {
    return (
      <p className="note">
        {blockedAt === null ? t('blocked') : t.rich('blockedSince', { time: rich.time(blockedAt) })} <AskForHelp />
      </p>
    )
  }
  return (
    <>
      {entry.launch_refused !== undefined && <p className="note">{entry.launch_refused}</p>}
      {entry.restart_requested && <p className="note">{t('restartRequested')}</p>}
      {entry.home_problem !== undefined && <p className="note">{entry.home_problem}</p>}
      {entry.layer_problem !== undefined && <p className="note">{entry.layer_problem}</p>}
      {entry.is_outdated && <p className="note">{t('outdated')}</p>}
      {/* First what is nearly always shown: notes that come and go below it move nothing. */}
      {lastUsed !== null && !isShort && <SinceLine entry={entry} last={last} lastUsed={lastUsed} />}
      {lastUsed === null && entry.created_at === null && <p className="hint">{t('hint.firstLaunch')}</p>}
      {entry.idle && !isShort && <IdleHint idle={entry.idle} />}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </>
  )
}

/** Since when it runs, or when and why Berth stopped it, as far as an event has said so; else when it was used last. */
function SinceLine({
  entry: { status },
  last,
  lastUsed,
}: Pick<CardNotesProps, 'entry' | 'last'> & { lastUsed: string }) {
  const t = useTranslations('dashboard')
  const word = last?.since === undefined ? 'lastUsed' : sinceWord(status, last)
  return (
    // Another line in its place: in the same one the time would move.
    <p key={word} className="hint">
      {t.rich(word, shortTimeAt(word === 'lastUsed' ? lastUsed : (last?.since ?? lastUsed)))}
    </p>
  )
}

/** The list may be ahead of the event, or behind it. */
function sinceWord(status: string, last: ContainerEvent) {
  if (status === 'running' && last.status === 'running') return 'runningSince'
  const isStopped = last.status === 'asleep' && status !== 'running' && status !== 'paused'
  return isStopped ? (`stopped.${last.why ?? 'unknown'}` as const) : 'lastUsed'
}

/** What it takes of its memory and of its home, where that is measured. */
function Meters({ entry: { memory, disk } }: { entry: ContainerEntry }) {
  if (!memory && !disk) return null
  return (
    <dl className="meters">
      {memory && <MeterLine of="memory" {...memory} />}
      {disk && <MeterLine of="disk" {...disk} />}
    </dl>
  )
}

/** Part from which a bar has the colour of what is nearly full. */
const nearlyFull = 0.9

function MeterLine({ of, used, limit }: { of: 'memory' | 'disk'; used: number; limit: number | null }) {
  const t = useTranslations('dashboard.meter')
  const format = useFormatter()
  const share = limit === null ? 0 : Math.min(1, used / limit)
  const values = formatShare(shareOf(used, limit ?? used, 'binary'), format.number)
  return (
    <div>
      <dt>{t(of)}</dt>
      <dd>
        {limit !== null && (
          <span className={share < nearlyFull ? 'meter' : 'meter near'} aria-hidden>
            <span style={{ width: `${share * 100}%` }} />
          </span>
        )}
        <span>{t(limit === null ? 'used' : 'share', values)}</span>
      </dd>
    </div>
  )
}

/** When it is suspended, and what keeps it awake until then. The list is asked for now and then, so a time may be over. */
function IdleHint({ idle: { at, why } }: { idle: NonNullable<ContainerEntry['idle']> }) {
  const t = useTranslations('dashboard.idleHint')
  const isOver = Date.parse(at) < useServerNow(hintUpdate)
  return (
    <p className="hint">
      {isOver ? t('over') : t.rich('at', shortTimeAt(at))} {t(why)}
    </p>
  )
}

/** In ms; the times have minutes. */
const hintUpdate = 10_000

const shortTimeAt = (at: string) => ({ time: () => <ShortTime at={at} /> })

/** A warning that a home, or all homes together, has nearly no space left, or cannot be measured. */
export function DiskNote({ event }: { event: DiskEvent | undefined }) {
  const t = useTranslations('dashboard.disk')
  const format = useFormatter()
  if (!event) return null
  if (!event.measured) return <p className="note">{t('unmeasured')}</p>
  const { key, values } = diskUsageText(event, format.number)
  return <p className="note">{t(key, values)}</p>
}

/** A warning that the container has written nearly as much outside of its home as it may. */
function LayerNote({ event }: { event: LayerEvent | undefined }) {
  const t = useTranslations('dashboard.disk')
  const format = useFormatter()
  if (!event) return null
  const { used, limit } = event
  return <p className="note">{t('layer', formatShare(shareOf(used, limit, 'binary'), format.number))}</p>
}

interface IdleNoteProps {
  warning: IdleWarning
  isOff: boolean
  describedBy: string | undefined
  onKeep(): void
}

/** The countdown to a suspension; where the container is idle, with a button that keeps it running. */
function IdleNote({ warning: { action, at, reason }, isOff, describedBy, onKeep }: IdleNoteProps) {
  const t = useTranslations('dashboard.idle')
  const { clockAhead } = useEvents()
  const left = secondsUntil(at, useNow(), clockAhead)
  const words = reason ?? action
  return (
    <div className="note idle-note">
      <p>{left > 0 ? t(words, { time: formatCountdown(left) }) : t(`${words}Now`)}</p>
      {reason === undefined && (
        <Button isOff={isOff} describedBy={describedBy} onPress={onKeep}>
          {t('keep')}
        </Button>
      )}
    </div>
  )
}

interface AnnouncementProps {
  name: string
  warning: IdleWarning | undefined
}

/** Announces each warning once to screen readers, and not each second. */
function IdleAnnouncement({ name, warning }: AnnouncementProps) {
  return (
    <p aria-live="polite" className="visually-hidden">
      {warning && <Said key={warning.at} name={name} warning={warning} />}
    </p>
  )
}

function Said({ name, warning: { action, at, reason } }: { name: string; warning: IdleWarning }) {
  const t = useTranslations('dashboard.idle')
  const { clockAhead } = useEvents()
  const [seconds] = useState(() => secondsUntil(at, Date.now(), clockAhead))
  return t(reason === undefined ? 'announcement' : 'lifetimeAnnouncement', { name, action, seconds })
}
