import { contentLanguage } from '../../language.ts'
import { message } from '../../messages/message.ts'
import type { Absence } from '../gateway.ts'
import { absenceBody } from '../pages/absence-page.ts'
import { progressFailed, progressHead, progressReady, progressStep } from '../pages/progress-page.ts'
import { absenceAnswer, absenceReason, absenceView } from './absence-answer.ts'
import { AppConnection } from './app-connection.ts'
import type { ClientConnection } from './client-connection.ts'
import type { Serving } from './core.ts'
import type { Exchange } from './exchange.ts'
import { headLanguage } from './head-language.ts'
import { isNavigation } from './navigation.ts'
import { GatewayRefusal, gatewayRefusals } from './refusals.ts'
import { reach } from './reach.ts'
import { Platform, Route } from './route.ts'

/** How long a request waits for its container, in ms: programs, and people who see what goes on. */
const [patienceOfPrograms, patienceOfPeople] = [30_000, 180_000]
/** How long a request waits for an API that is being restarted, in ms. */
const patienceWithPlatform = 3_000
/** How long people wait before they are shown what goes on, in ms: most containers are there by then. */
const untilProgress = 1_000

const stepStarting = message('pages.stepStarting')
const stepWaiting = message('pages.stepWaiting')

/** Gets a new connection for an exchange and sends it, or says why that cannot be. Never rejects. */
export async function bring(serving: Serving, client: ClientConnection, exchange: Exchange): Promise<void> {
  try {
    await tryToBring(serving, client, exchange, isOwners(exchange))
  } catch (error) {
    if (exchange.isOver) return
    client.refuse(error instanceof GatewayRefusal ? error : gatewayRefusals.bug(error))
  }
}

/** Derived, not handed down: a request that is sent once more must wake its owner's container as it did at first. */
function isOwners({ parts: { upstream, caller } }: Exchange): boolean {
  return upstream instanceof Route && caller?.userId === upstream.place.ownerId
}

async function tryToBring(
  serving: Serving,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
): Promise<void> {
  const { upstream, head } = exchange.parts
  const isWatched = upstream instanceof Route && head.method === 'GET' && isNavigation(head)
  const patience =
    upstream instanceof Platform ? patienceWithPlatform : isWatched ? patienceOfPeople : patienceOfPrograms
  const reached = reach(upstream, serving.control, { isWanted: () => !exchange.isOver, mayWake: isOwner, patience })
  if (isWatched && (await takesLong(reached))) return showProgress(serving, client, exchange, isOwner, reached)
  let got: AppConnection | Absence
  try {
    got = await reached
  } catch (error) {
    return explainFailure(serving, client, exchange, isOwner, error)
  }
  if (got instanceof AppConnection) client.send(got)
  else if (!exchange.isOver) await answerAbsence(serving, client, exchange, isOwner, got)
}

async function takesLong(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, untilProgress, true)
  })
  const done = () => false
  const isLate = await Promise.race([work.then(done, done), late])
  clearTimeout(timer)
  return isLate
}

/** A page that says what goes on, and asks again by itself once the app answers. */
async function showProgress(
  serving: Serving,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
  reached: Promise<AppConnection | Absence>,
): Promise<void> {
  const { upstream, head } = exchange.parts
  if (!(upstream instanceof Route) || exchange.isOver) return
  const { displayName } = upstream.rules
  const { dashboardUrl } = serving.settings
  const language = headLanguage(head)
  const isAwake = () => upstream.address !== undefined
  client.openAnswer(
    503,
    { 'retry-after': '5', ...contentLanguage(language) },
    progressHead({ displayName, dashboardUrl, language }),
  )
  client.continueAnswer(progressStep(isAwake() ? stepWaiting : stepStarting, language))
  const watch = isAwake() ? undefined : setInterval(tellWhenAwake, 100)
  function tellWhenAwake(): void {
    if (!isAwake()) return
    clearInterval(watch)
    if (!exchange.isOver) client.continueAnswer(progressStep(stepWaiting, language))
  }
  const got = await reached.catch(() => undefined)
  clearInterval(watch)
  if (got instanceof AppConnection) got.release()
  if (exchange.isOver) return
  if (got instanceof AppConnection) return client.finishAnswer(progressReady(head.target, language))
  const view = absenceView(serving, head, viewOf(upstream, isOwner))
  client.finishAnswer(progressFailed(absenceBody(await absenceReason(serving, got, viewOf(upstream, isOwner)), view)))
}

async function answerAbsence(
  serving: Serving,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
  absence: Absence | undefined,
): Promise<void> {
  const { upstream, head } = exchange.parts
  if (!(upstream instanceof Route)) return client.refuse(gatewayRefusals.platformDown())
  const own = await absenceAnswer(serving, head, absence, viewOf(upstream, isOwner))
  if (!exchange.isOver) client.answer(own)
}

/** The container runs, but its app cannot be reached; or the API cannot. */
async function explainFailure(
  serving: Serving,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
  error: unknown,
): Promise<void> {
  if (exchange.isOver) return
  const { upstream, head } = exchange.parts
  const isBug = !(error instanceof GatewayRefusal)
  if (isBug || !(upstream instanceof Route) || !isNavigation(head)) {
    if (upstream instanceof Platform) return client.refuse(gatewayRefusals.platformDown())
    throw error
  }
  await answerAbsence(serving, client, exchange, isOwner, undefined)
}

const viewOf = ({ place: { prefix, type }, rules: { displayName } }: Route, isOwner: boolean) => ({
  prefix,
  type,
  displayName,
  isOwner,
})
