import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { ApiError } from '@berth/api/client.ts'
import type { LaunchResponse, LinkFilesBody } from '@berth/api/schemas/container.ts'
import { canAct, createApiClient, isSignedIn, launchTimeout } from '#/api/api-client.ts'
import { isSignedOut } from '#/api/errors.ts'
import { withRetry } from '#/api/retry.ts'
import { Alert } from '#/components/alert.tsx'
import { AskForHelpButton, canAskForHelp } from '#/components/ask-for-help.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { TypeLine, useTypeName } from '#/components/type-name.tsx'
import { useTask } from '#/components/use-task.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'
import { useErrorMessage, withTexts } from '#/i18n/i18n-provider.tsx'
import { launch as words } from '#/messages/launch.ts'
import { Page } from '#/page/page.tsx'
import { pages, withNext } from '#/paths.ts'
import { focusHeading, navigateReplacing, type Notice, useLocation } from '#/router/router.ts'
import { redirectToLogin } from '#/session/login-redirect.ts'
import { LaunchFailure, LaunchProgressBar, LaunchSteps, useStageSentence } from './launch-progress.tsx'
import {
  failureIn,
  failureOf,
  helpAfter,
  mayStillSucceed,
  stageIn,
  wasStopped,
  type LaunchState,
} from './launch-state.ts'
import { landingUrlFor } from './open-container.ts'
import { useAutoOpen } from './use-auto-open.ts'

/**
 * `/launch?type=dev&next=/ann-dev/x`: where the gateway redirects users whose container does not wake automatically.
 * The page launches the container as soon as it opens, and continues to it. A link from elsewhere can do no more with
 * it than launch a container for its own owner.
 */
export const Launch = withTexts({ launch: words }, LaunchPage)

function LaunchPage() {
  const { query } = useLocation()
  const here = `${pages.launch}?${query}`
  const type = query.get('type') ?? ''
  if (!canAct()) return <SignInFirst next={here} />
  if (type === '') return <NoType />
  return <AskForFiles type={type} next={query.get('next')} here={here} files={filesIn(query)} />
}

/** Files of a Git repository that a link brings. */
type LinkFiles = LinkFilesBody

function filesIn(query: URLSearchParams): LinkFiles | undefined {
  const git = query.get('git')
  const [ref, to] = [query.get('ref'), query.get('to')]
  return git === null ? undefined : { git, ...(ref ? { ref } : {}), ...(to ? { to } : {}) }
}

/** A link may bring files of any repository: the page names what is fetched and where it goes, and waits for a press of a button. */
function AskForFiles({ files, ...starting }: Omit<StartingProps, 'files'> & { files: LinkFiles | undefined }) {
  const [answer, setAnswer] = useState<'yes' | 'no'>()
  if (!files || answer) return <Starting {...starting} files={answer === 'yes' ? files : undefined} />
  return <FilesQuestion type={starting.type} files={files} onAnswer={setAnswer} />
}

interface FilesQuestionProps {
  readonly type: string
  readonly files: LinkFiles
  onAnswer(answer: 'yes' | 'no'): void
}

function FilesQuestion({ type, files, onAnswer }: FilesQuestionProps) {
  const t = useTranslations('launch.files')
  const name = useTypeName()(type)
  return (
    <Page title={t('title')} width="narrow">
      <p>{t('intro', { name })}</p>
      <p>
        {t('repository')}: <code className="path">{files.git}</code>
      </p>
      {files.ref !== undefined && (
        <p>
          {t('ref')}: <code className="path">{files.ref}</code>
        </p>
      )}
      <p>
        {t('to')}: {files.to === undefined ? t('home') : <code className="path">{files.to}</code>}
      </p>
      <p className="hint">{t('kept')}</p>
      <div className="actions">
        <Button variant="primary" onPress={() => onAnswer('yes')}>
          {t('get')}
        </Button>
        <Button onPress={() => onAnswer('no')}>{t('without')}</Button>
        <ToContainers />
      </div>
    </Page>
  )
}

interface StartingProps {
  readonly type: string
  readonly next: string | null
  readonly here: string
  /** Files that are put into the home before the container is opened. */
  readonly files: LinkFiles | undefined
}

function Starting({ type, next, here, files }: StartingProps) {
  const t = useTranslations('launch')
  const stageSentence = useStageSentence()
  const sentenceOf = useErrorMessage()
  const part = useRef<HTMLDivElement>(null)
  const [isGoing, setGoing] = useState(false)
  const { launch, answer, failure, start } = useLaunch(
    type,
    files,
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
      <TypeLine type={type} />
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
  const t = useTranslations()
  const needsHelp = error instanceof ApiError && helpAfter(error.body) === 'contact' && canAskForHelp
  return (
    <Page title={t('launch.failedTitle')} width="narrow">
      <TypeLine type={type} />
      <Alert error={error} />
      <LaunchFailure error={error} />
      <div className="actions">
        {needsHelp && <HelpButton type={type} />}
        <Button variant={needsHelp ? undefined : 'primary'} onPress={onRetry}>
          {t('dashboard.action.retry')}
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
  const t = useTranslations('launch')
  return (
    <a className="button" href={pages.home}>
      {t('dashboard')}
    </a>
  )
}

/** The link names no type: the dashboard lists all. */
function NoType() {
  const t = useTranslations('launch')
  const notice = t('noType')
  useEffect(() => toDashboard(notice), [notice])
  return null
}

/**
 * Redirects signed-out users to the sign-in. A signed-in user without a CSRF value is on plain http outside localhost,
 * and a redirect would end here again: they read why instead.
 */
function SignInFirst({ next }: { next: string }) {
  const t = useTranslations('launch')
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

/** The response to a launch: its program runs. */
interface LaunchAnswer {
  readonly container: Pick<LaunchResponse, 'service_url' | 'open_path'>
  /** When it arrived, by `performance.now()`. */
  readonly at: number
}

interface OwnLaunch {
  /** What events have reported of the launch. */
  readonly launch: LaunchState | undefined
  readonly answer: LaunchAnswer | undefined
  /** Why it failed. */
  readonly failure: unknown
  /** Launches again. */
  start(): void
}

/**
 * Launches a container as soon as the page opens, and again on demand.
 * @param type the launch is refused where no such type exists @param files put into the home before the answer counts
 * @param onSignedOut is called when the user is signed out @param onRefused is called for every other error
 */
function useLaunch(
  type: string,
  files: LinkFiles | undefined,
  onSignedOut: () => void,
  onRefused: (reason: unknown) => void,
): OwnLaunch {
  const { busy, error, run } = useTask()
  const launch = useEvents().events.launches.get(type)
  const [answer, setAnswer] = useState<LaunchAnswer>()

  const start = () =>
    void run(async (signal) => {
      eventStore.forgetEnd(type)
      setAnswer(undefined)
      try {
        const api = createApiClient(signal, launchTimeout)
        const launch = () => api.launchContainer({ params: { container_type: type } })
        const container = await withRetry(launch, signal)
        if (files) await api.putLinkFiles({ params: { container_type: type }, body: files })
        setAnswer({ container, at: performance.now() })
      } catch (reason) {
        if (isSignedOut(reason)) onSignedOut()
        onRefused(reason)
        throw reason
      }
    })

  const startFirst = useEffectEvent(start)
  useEffect(() => startFirst(), [])

  // The launch outlasted the timeout of the server or of this page: its end arrives as an event, and another request
  // continues.
  const isStarted = launch?.event.stage === 'waiting' || launch?.event.stage === 'ready'
  const goOn = useEffectEvent(() => mayStillSucceed(error) && start())
  useEffect(() => void (isStarted && goOn()), [isStarted])

  const failure = useMemo(() => {
    if (busy) return undefined
    // After the response, the program ended, or was stopped, before its app answered. This page waits for the app, so
    // it shows a stop, too.
    if (error === undefined) return answer && failureIn(launch?.event)
    return wasStopped(error) ? error : failureOf(error, launch?.event)
  }, [busy, error, launch, answer])
  return { launch, answer, failure, start }
}
