import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { ApiError } from '@berth/api/client.ts'
import { canAct, connect, isSignedIn, launchLimit } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { LaunchFailure } from '#/components/launch-failure.tsx'
import { Link } from '#/components/link.tsx'
import { Page } from '#/components/page.tsx'
import { StageProgress } from '#/components/stage-progress.tsx'
import { isSignedOut } from '#/errors.ts'
import { leave } from '#/leave.ts'
import { useEvents } from '#/hooks/use-events.ts'
import type { Notice } from '#/hooks/use-notice.ts'
import { useSentence } from '#/hooks/use-sentence.ts'
import { useTask } from '#/hooks/use-task.ts'
import { placeInContainer } from '#/launched.ts'
import { failureOf, isUnderWay, mayGoOn } from '#/launches.ts'
import { pages, withNext } from '#/paths.ts'
import { goInstead, usePlace } from '#/place.ts'

const words = {
  title: 'Starting your container',
  failedTitle: 'Your container was not started',
  starting: 'It is being started. This page moves on by itself as soon as it runs.',
  patience: 'The first time this can take a minute.',
  running: 'It is running. Taking you there…',
  retry: 'Try again',
  dashboard: 'Go to your containers',
  noType: 'This link does not say which container to start. Choose one here.',
  signInAgain: 'This page cannot tell that it was you who opened it.',
  signIn: 'Sign in to start your container',
}

/**
 * `/launch?type=dev&next=/ann-dev/x`: where the gateway sends people whose container does not wake by itself. It starts
 * the container as soon as it opens, and leads on. All that a link from elsewhere can do with it is to start a container
 * for its own owner.
 */
export function Launch() {
  const { query } = usePlace()
  const here = `${pages.launch}?${query}`
  if (canAct()) return <Start type={query.get('type')} next={query.get('next')} here={here} />
  return <SignIn next={here} />
}

function Start({ type, next, here }: { type: string | null; next: string | null; here: string }) {
  const { busy, error, run } = useTask()
  const told = useEvents().launches.get(type ?? '')
  const [isRunning, setRunning] = useState(false)
  const sentenceOf = useSentence()

  function start() {
    void run(async (signal) => {
      try {
        if (type === null || type === '') return toDashboard(words.noType)
        const api = connect(signal, launchLimit)
        const { service_url } = await api.launchContainer({ params: { container_type: type } })
        setRunning(true)
        location.replace(placeInContainer(next, service_url))
      } catch (reason) {
        if (isSignedOut(reason)) leave(here)
        if (isUnknownType(reason)) toDashboard(sentenceOf(reason))
        throw reason
      }
    })
  }

  // oxlint-disable-next-line react/exhaustive-deps -- once, as soon as the page opens; after that by its button alone
  useEffect(start, [])

  // What took longer than the server, or this page, waits: its end is told, and then asking again leads on.
  const isStarted = told?.event.stage === 'waiting' || told?.event.stage === 'ready'
  const goOn = useEffectEvent(() => mayGoOn(error) && start())
  useEffect(() => void (isStarted && goOn()), [isStarted])

  const failure = useMemo(() => (busy ? undefined : failureOf(error, told?.event)), [busy, error, told])
  const hasFailed = failure !== undefined && error !== undefined
  const isStarting = isUnderWay(told?.event)
  return (
    <Page title={hasFailed ? words.failedTitle : words.title} width="narrow">
      <div role="status" className="live">
        {!hasFailed && <p>{isRunning ? words.running : words.starting}</p>}
      </div>
      <p aria-live="polite" className="visually-hidden">
        {isStarting && told?.announcement}
      </p>
      {isStarting && <StageProgress event={told?.event} />}
      {!hasFailed && !isRunning && !isStarting && <p className="hint">{words.patience}</p>}
      <Alert error={hasFailed ? failure : undefined} />
      {hasFailed && <LaunchFailure error={failure} />}
      {hasFailed && (
        <div className="actions">
          <Button look="primary" onPress={start}>
            {words.retry}
          </Button>
          <a className="button" href={pages.home}>
            {words.dashboard}
          </a>
        </div>
      )}
    </Page>
  )
}

/**
 * Leads strangers to the sign-in. Who is signed in but has no proof is on plain http away from this machine, and would get
 * none by coming here again: they are told, so that they are not sent to and fro.
 */
function SignIn({ next }: { next: string }) {
  const isOut = !isSignedIn()
  useEffect(() => {
    if (isOut) leave(next)
  }, [isOut, next])

  return (
    <Page title={words.title} width="narrow">
      {!isOut && <p>{words.signInAgain}</p>}
      <p>
        <Link to={withNext(pages.login, next)}>{words.signIn}</Link>
      </p>
    </Page>
  )
}

/** Where all types are to be seen, with the reason for coming there. */
function toDashboard(notice: string): void {
  goInstead(pages.home, { notice } satisfies Notice)
}

/** The API's only reason for 400 here: no type of that name is configured. */
const isUnknownType = (error: unknown) => error instanceof ApiError && error.status === 400
