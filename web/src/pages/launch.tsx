import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import { canAct, isSignedIn } from '#/api.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { AskButton, canBeAsked } from '#/components/ask.tsx'
import { LaunchFailure } from '#/components/launch-failure.tsx'
import { Link } from '#/components/link.tsx'
import { focusHeading, Page } from '#/components/page.tsx'
import { StageProgress, StageSteps, useStageSentence } from '#/components/stage-progress.tsx'
import type { Notice } from '#/hooks/use-notice.ts'
import { useOpening } from '#/hooks/use-opening.ts'
import { useSentence } from '#/hooks/use-sentence.ts'
import { useStart } from '#/hooks/use-start.ts'
import { placeInContainer } from '#/launched.ts'
import { helpAfter, stageIn } from '#/launch-words.ts'
import { leave } from '#/leave.ts'
import { pages, withNext } from '#/paths.ts'
import { goInstead, usePlace } from '#/place.ts'

/**
 * `/launch?type=dev&next=/ann-dev/x`: where the gateway sends people whose container does not wake by itself. It starts
 * the container as soon as it opens, and leads on. All that a link from elsewhere can do with it is to start a container
 * for its own owner.
 */
export function Launch() {
  const { query } = usePlace()
  const here = `${pages.launch}?${query}`
  const type = query.get('type') ?? ''
  if (!canAct()) return <SignIn next={here} />
  return type === '' ? <NoType /> : <Starting type={type} next={query.get('next')} here={here} />
}

interface StartingProps {
  readonly type: string
  readonly next: string | null
  readonly here: string
}

function Starting({ type, next, here }: StartingProps) {
  const t = useTranslations('dashboard.launch')
  const stageSentence = useStageSentence()
  const sentenceOf = useSentence()
  const part = useRef<HTMLDivElement>(null)
  const [isGoing, setGoing] = useState(false)
  const { launch, answer, failure, start } = useStart(
    type,
    () => leave(here),
    (reason) => isUnknownType(reason) && toDashboard(sentenceOf(reason)),
  )
  const place = answer && placeInContainer(next, answer.serviceUrl)
  const opening = useOpening({
    within: part,
    isWholePage: true,
    stage: answer && launch?.event.stage,
    answeredAt: answer?.at,
    isOver: failure !== undefined,
    open: () => {
      setGoing(true)
      if (place !== undefined) location.replace(place)
    },
  })

  // The button goes away with the failure, so the focus must leave it first.
  function retry() {
    focusHeading()
    opening.ask()
    start()
  }

  function stay() {
    focusHeading()
    opening.stay()
  }

  if (failure !== undefined) return <Failed error={failure} type={type} onRetry={retry} />
  const { isAsked } = opening
  // Its app answers, or is waited for by the gateway: until then nothing on this page may move.
  const isUnderWay = isAsked || isGoing || !answer || stageIn(launch?.event) !== undefined
  const state = isGoing ? 'going' : isAsked ? 'starting' : answer ? 'ready' : 'staying'
  return (
    <Page title={state === 'ready' ? t('readyTitle') : t('title')} width="narrow">
      <div role="status" className="live two-lines">
        <p>{t(state)}</p>
      </div>
      <p aria-live="polite" className="visually-hidden">
        {stageSentence(launch?.began)}
      </p>
      {isUnderWay && (
        <>
          <StageProgress launch={launch} otherwise={answer ? t('going') : t('patience')} />
          <StageSteps launch={launch} />
        </>
      )}
      <div ref={part} className="actions" data-launching>
        {isAsked && <Button onPress={stay}>{t('stay')}</Button>}
        {state === 'ready' && (
          <a className="button primary" href={place}>
            {t('open')}
          </a>
        )}
        {!isAsked && !isGoing && <ToContainers />}
      </div>
    </Page>
  )
}

function Failed({ error, type, onRetry }: { error: unknown; type: string; onRetry(): void }) {
  const t = useTranslations('dashboard')
  const needsHelp = error instanceof ApiError && helpAfter(error.body) === 'contact' && canBeAsked
  return (
    <Page title={t('launch.failedTitle')} width="narrow">
      <Alert error={error} />
      <LaunchFailure error={error} />
      <div className="actions">
        {needsHelp && <AskButton about={t('failure.subject', { name: type })} />}
        <Button look={needsHelp ? undefined : 'primary'} onPress={onRetry}>
          {t('action.retry')}
        </Button>
        <ToContainers />
      </div>
    </Page>
  )
}

/** By a real navigation: what the dashboard shows first is asked for anew. */
function ToContainers() {
  const t = useTranslations('dashboard.launch')
  return (
    <a className="button" href={pages.home}>
      {t('dashboard')}
    </a>
  )
}

/** The link does not say which: all types are to be seen on the dashboard. */
function NoType() {
  const t = useTranslations('dashboard.launch')
  const notice = t('noType')
  useEffect(() => toDashboard(notice), [notice])
  return null
}

/**
 * Leads strangers to the sign-in. Who is signed in but has no proof is on plain http away from this machine, and would get
 * none by coming here again: they are told, so that they are not sent to and fro.
 */
function SignIn({ next }: { next: string }) {
  const t = useTranslations('dashboard.launch')
  const isOut = !isSignedIn()
  useEffect(() => {
    if (isOut) leave(next, false)
  }, [isOut, next])

  return (
    <Page title={t('title')} width="narrow">
      {!isOut && <p>{t('signInAgain')}</p>}
      <p>
        <Link to={withNext(pages.login, next)}>{t('signIn')}</Link>
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
