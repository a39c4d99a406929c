import { useId, useState } from 'react'
import type { ContainerEntry } from '@berth/api/user.ts'
import { Alert } from '#/components/alert.tsx'
import { CardActions } from '#/components/card-actions.tsx'
import { RestartDialog } from '#/components/restart-dialog.tsx'
import { StatusBadge } from '#/components/status-badge.tsx'
import { Time } from '#/components/time.tsx'
import { statusView } from '#/container-status.ts'
import { useLifecycle } from '#/hooks/use-lifecycle.ts'

interface ContainerCardProps {
  entry: ContainerEntry
  canRestart: boolean
  /** Something changed on the server: look again. */
  onChange(): void
}

const words = {
  launch: { word: 'Launching…', done: (name: string) => `${name} is running.` },
  restart: { word: 'Restarting…', done: (name: string) => `${name} was restarted.` },
  patience: 'The first time this can take a minute.',
  lastUsed: 'Last launched',
  blockedSince: 'Blocked since',
  blocked: 'This container is blocked.',
  ask: 'Ask your administrator.',
}

/** One container type: what it is, how it is, and what can be done with it. */
export function ContainerCard({ entry, canRestart, onChange }: ContainerCardProps) {
  const heading = useId()
  const [isAsking, setAsking] = useState(false)
  const { verb, done, error, launch, restart } = useLifecycle(entry, onChange)
  const view = verb ? { word: words[verb].word, tone: 'busy' as const } : statusView(entry)

  return (
    <li className="card">
      <article aria-labelledby={heading}>
        <div className="card-head">
          <h2 id={heading}>{entry.display_name}</h2>
          <StatusBadge view={view} />
        </div>
        <p>{entry.description}</p>
        <Notes entry={entry} hint={verb ? words.patience : statusView(entry).hint} />
        <Alert error={error} takesFocus={entry.is_blocked} />
        <CardActions
          entry={entry}
          canRestart={canRestart}
          isBusy={verb !== undefined}
          onLaunch={launch}
          onRestart={() => setAsking(true)}
        />
        <p aria-live="polite" className="visually-hidden">
          {verb ? `${entry.display_name}: ${words[verb].word}` : done && words[done].done(entry.display_name)}
        </p>
      </article>
      {isAsking && <RestartDialog name={entry.display_name} onConfirm={restart} onClose={() => setAsking(false)} />}
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
