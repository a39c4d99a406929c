import { useId, useState } from 'react'
import type { DiskEvent } from '@berth/api/container.ts'
import type { ContainerEntry } from '@berth/api/user.ts'
import { Alert } from '#/components/alert.tsx'
import { CardActions } from '#/components/card-actions.tsx'
import { DiskNote } from '#/components/disk-note.tsx'
import { LaunchFailure } from '#/components/launch-failure.tsx'
import { LogsDialog } from '#/components/logs-dialog.tsx'
import { RestartDialog } from '#/components/restart-dialog.tsx'
import { StageProgress } from '#/components/stage-progress.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { Time } from '#/components/time.tsx'
import { statusView } from '#/container-status.ts'
import { useLifecycle } from '#/hooks/use-lifecycle.ts'
import { isUnderWay, type LaunchState } from '#/launches.ts'

interface ContainerCardProps {
  entry: ContainerEntry
  /** The last that was told of a launch of it. */
  launch: LaunchState | undefined
  /** When its home has nearly no room left. */
  disk: DiskEvent | undefined
  canRestart: boolean
  /** Something changed on the server: look again. */
  onChange(): void
}

const words = {
  launch: { word: 'Launching…', done: (name: string) => `${name} is running.` },
  restart: { word: 'Restarting…', done: (name: string) => `${name} was restarted.` },
  starting: 'Starting…',
  patience: 'The first time this can take a minute.',
  lastUsed: 'Last launched',
  blockedSince: 'Blocked since',
  blocked: 'This container is blocked.',
  ask: 'Ask your administrator.',
}

/** One container type: what it is, how it is, and what can be done with it. */
export function ContainerCard({ entry, launch: told, disk, canRestart, onChange }: ContainerCardProps) {
  const heading = useId()
  const [opened, setOpened] = useState<'restart' | 'logs'>()
  const { verb, done, failure, launch, restart } = useLifecycle(entry, told?.event, onChange)
  const isStarting = isUnderWay(told?.event)
  const isShown = isStarting || entry.status === 'running'
  const busyWord = verb ? words[verb].word : isStarting ? words.starting : undefined
  const view = busyWord ? { word: busyWord, tone: 'busy' as const } : statusView(entry)

  return (
    <li className="card">
      <article aria-labelledby={heading}>
        <div className="card-head">
          <h2 id={heading}>{entry.display_name}</h2>
          <StatusBadge view={view} />
        </div>
        <p>{entry.description}</p>
        <Notes entry={entry} hint={isStarting ? undefined : verb ? words.patience : statusView(entry).hint} />
        <DiskNote event={disk} />
        {isShown && <StageProgress event={told?.event} />}
        <Alert error={failure} takesFocus={entry.is_blocked} />
        <LaunchFailure error={failure} />
        <CardActions
          entry={entry}
          canRestart={canRestart}
          isBusy={busyWord !== undefined}
          onLaunch={launch}
          onRestart={() => setOpened('restart')}
          onLogs={() => setOpened('logs')}
        />
        <p aria-live="polite" className="visually-hidden">
          {busyWord
            ? `${entry.display_name}: ${told?.announcement || busyWord}`
            : done && words[done].done(entry.display_name)}
        </p>
      </article>
      {opened === 'restart' && (
        <RestartDialog name={entry.display_name} onConfirm={restart} onClose={() => setOpened(undefined)} />
      )}
      {opened === 'logs' && (
        <LogsDialog name={entry.display_name} type={entry.type} onClose={() => setOpened(undefined)} />
      )}
    </li>
  )
}

function Notes({ entry, hint }: { entry: ContainerEntry; hint: string | undefined }) {
  if (entry.is_blocked) {
    return (
      <p className="note">
        {entry.blocked_at === null ? (
          words.blocked
        ) : (
          <>
            {words.blockedSince} <Time at={entry.blocked_at} />.
          </>
        )}{' '}
        {words.ask}
      </p>
    )
  }
  return (
    <>
      {hint !== undefined && <p className="hint">{hint}</p>}
      {entry.last_used !== null && (
        <p className="hint">
          {words.lastUsed} <Time at={entry.last_used} />
        </p>
      )}
    </>
  )
}
