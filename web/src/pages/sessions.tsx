import type { SessionEntry } from '@berth/api/sessions.ts'
import { canAct, connect } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { focusHeading, Page } from '#/components/page.tsx'
import { Time } from '#/components/time.tsx'
import { useSessions } from '#/hooks/use-sessions.ts'
import { useTask } from '#/hooks/use-task.ts'

const words = {
  title: 'Where you are signed in',
  loading: 'Looking up your sessions…',
  current: 'This browser',
  unknown: 'A program, or a browser that is not known',
  since: 'Signed in',
  until: ', until',
  from: (address: string) => `, from ${address}`,
  end: 'End',
  endThis: (name: string) => `End the session: ${name}`,
  others: 'End all others',
  takeover: (admin: string) => `${admin} acted for you`,
  began: 'Since',
  over: 'It is over.',
  reason: 'Reason:',
}

/** Somebody's own sessions, and who acted for them: what they can end, and what they should know. */
export function Sessions() {
  const { sessions, problem, refresh } = useSessions()
  const { busy, error, run } = useTask()
  const isLonely = !sessions?.some(isOtherAndLive)

  // What is pressed goes away with its session, so the focus must leave it first.
  function end(work: (signal: AbortSignal) => Promise<unknown>) {
    void run(async (signal) => {
      await work(signal)
      focusHeading()
      refresh()
    })
  }

  return (
    <Page title={words.title}>
      <Alert error={error} />
      <Alert error={problem} />
      {!sessions && problem === undefined && <p role="status">{words.loading}</p>}
      <ul className="rows">
        {sessions?.map((session) => (
          <Row
            key={session.id}
            session={session}
            isOff={busy || !canAct()}
            onEnd={() => end((signal) => connect(signal).endSession({ params: { id: String(session.id) } }))}
          />
        ))}
      </ul>
      {!isLonely && (
        <p>
          <Button isOff={busy || !canAct()} onPress={() => end((signal) => connect(signal).endOtherSessions())}>
            {words.others}
          </Button>
        </p>
      )}
    </Page>
  )
}

interface RowProps {
  session: SessionEntry
  isOff: boolean
  onEnd(): void
}

function Row({ session, isOff, onEnd }: RowProps) {
  const name = nameOf(session)
  return (
    <li className="row">
      <div>
        <h2>{name}</h2>
        {session.reason !== null && (
          <p>
            {words.reason} {session.reason}
          </p>
        )}
        <p className="hint">
          {session.taken_over_by === null ? words.since : words.began} <Time at={session.created_at} />
          {session.address !== '' && words.from(session.address)}
          {words.until} <Time at={session.ended_at ?? session.expires_at} />. {isOver(session) && words.over}
        </p>
      </div>
      {isOtherAndLive(session) && (
        <Button look="small" isOff={isOff} onPress={onEnd}>
          <span aria-hidden>{words.end}</span>
          <span className="visually-hidden">{words.endThis(name)}</span>
        </Button>
      )}
    </li>
  )
}

function nameOf({ is_current, taken_over_by, browser }: SessionEntry): string {
  if (taken_over_by !== null) return words.takeover(taken_over_by)
  if (!is_current) return browser ?? words.unknown
  return browser === null ? words.current : `${words.current}: ${browser}`
}

const isOver = ({ ended_at, expires_at }: SessionEntry) => ended_at !== null || new Date(expires_at) <= new Date()

const isOtherAndLive = (session: SessionEntry) => !session.is_current && !isOver(session)
