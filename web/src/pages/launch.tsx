import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import { canAct, isSignedIn } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { AskForHelpButton, canAskForHelp } from '#/support-contact/ask-for-help.tsx'
import { LaunchFailure } from '#/components/launch/launch-failure.tsx'
import { Link } from '#/components/link.tsx'
import { focusHeading, Page } from '#/components/page/page.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { LaunchProgressBar, LaunchSteps, useStageSentence } from '#/components/launch/launch-progress.tsx'
import type { Notice } from '#/router/use-notice.ts'
import { useAutoOpen } from '#/launch/use-auto-open.ts'
import { useErrorMessage } from '#/i18n/use-error-message.ts'
import { useLaunch } from '#/launch/use-launch.ts'
import { landingUrlFor } from '#/launch/landing-url.ts'
import { stageIn } from '#/launch/launch-stages.ts'
import { helpAfter } from '#/launch/launch-failure-help.ts'
import { redirectToLogin } from '#/session/login-redirect.ts'
import { pages, withNext } from '#/paths.ts'
import { navigateReplacing, useLocation } from '#/router/router.ts'

/**
 * `/launch?type=dev&next=/ann-dev/x`: where the gateway redirects users whose container does not wake automatically.
 * The page launches the container as soon as it opens, and continues to it. A link from elsewhere can do no more with
 * it than launch a container for its own owner.
 */
export function Launch() {
  const { query } = useLocation()
  const here = `${pages.launch}?${query}`
  const type = query.get('type') ?? ''
  if (!canAct()) return <SignInFirst next={here} />
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
  const sentenceOf = useErrorMessage()
  const part = useRef<HTMLDivElement>(null)
  const [isGoing, setGoing] = useState(false)
  const { launch, answer, failure, start } = useLaunch(
    type,
    () => redirectToLogin(here),
    (reason) => isUnknownType(reason) && toDashboard(sentenceOf(reason)),
  )
  const landingUrl = answer && landingUrlFor(next, answer.container)
  const opening = useAutoOpen({
    type,
    within: part,
    canOpen: landingUrl !== undefined,
    isWholePage: true,
    stage: answer && launch?.event.stage,
    answeredAt: answer?.at,
    isOver: failure !== undefined,
    open: () => {
      setGoing(true)
      if (landingUrl !== undefined) location.replace(landingUrl)
    },
  })

  // The button goes away with the failure, so the focus moves first.
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
  // The app answers, or the gateway holds requests until it does: until then nothing on this page may move.
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
          <LaunchProgressBar launch={launch} otherwise={answer ? t('going') : t('firstLaunch')} />
          <LaunchSteps launch={launch} />
        </>
      )}
      <div ref={part} className="actions" data-launching>
        {isAsked && <Button onPress={stay}>{t('stay')}</Button>}
        {state === 'ready' && (
          <a className="button primary" href={landingUrl}>
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
  const needsHelp = error instanceof ApiError && helpAfter(error.body) === 'contact' && canAskForHelp
  return (
    <Page title={t('launch.failedTitle')} width="narrow">
      <Alert error={error} />
      <LaunchFailure error={error} />
      <div className="actions">
        {needsHelp && <HelpButton type={type} />}
        <Button variant={needsHelp ? undefined : 'primary'} onPress={onRetry}>
          {t('action.retry')}
        </Button>
        <ToContainers />
      </div>
    </Page>
  )
}

function HelpButton({ type }: { type: string }) {
  const t = useTranslations('dashboard.failure')
  return <AskForHelpButton about={t('subject', { name: useTypeName()(type) })} />
}

/** A real navigation: the dashboard requests its data anew. */
function ToContainers() {
  const t = useTranslations('dashboard.launch')
  return (
    <a className="button" href={pages.home}>
      {t('dashboard')}
    </a>
  )
}

/** The link names no type: the dashboard lists all. */
function NoType() {
  const t = useTranslations('dashboard.launch')
  const notice = t('noType')
  useEffect(() => toDashboard(notice), [notice])
  return null
}

/**
 * Redirects signed-out users to the sign-in. A signed-in user without a CSRF value is on plain http outside localhost,
 * and a redirect would end here again: they read why instead.
 */
function SignInFirst({ next }: { next: string }) {
  const t = useTranslations('dashboard.launch')
  const isOut = !isSignedIn()
  useEffect(() => {
    if (isOut) redirectToLogin(next, false)
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

/** The dashboard lists all types; the notice says why the user is there. */
function toDashboard(notice: string): void {
  navigateReplacing(pages.home, { notice } satisfies Notice)
}

/** The API's only reason for 400 here: no type of that name is configured. */
const isUnknownType = (error: unknown) => error instanceof ApiError && error.status === 400
