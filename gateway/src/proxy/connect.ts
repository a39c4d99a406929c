import { contentLanguage } from '@berth/texts/language.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { GatewayConfig } from '#/access/gateway-config.ts'
import { platformPathOf } from '#/access/host-entry.ts'
import { isHtmlNavigation, isOfBrowser, opensPage, requestLanguage } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { pagePolicy, policyFor } from '#/pages/document.ts'
import { GatewayRefusal, gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { withNext, type GatewayResponse } from '#/pages/gateway-response.ts'
import { deadPortResponse, isSentByDeadPort } from '#/pages/port.ts'
import { progressFailed, progressHead, progressReady, progressStep } from '#/pages/progress.ts'
import {
  unavailableBody,
  unavailableForBrowsers,
  unavailableForPrograms,
  type UnavailableContainer,
  type UnavailableReason,
  type UnavailableView,
} from '#/pages/unavailable.ts'
import type { Explanation, TypeRules, Unavailable, WakeRight } from '#/port/gateway.ts'
import type { Caller } from '#/tokens/token-verifier.ts'
import { PortRoute, Route } from '#/upstream/route.ts'
import { dialUpstream, isRefused } from '#/upstream/upstream-dialer.ts'
import { PlatformUpstream, UpstreamConnection, type RequestUse, type Upstream } from '#/upstream/upstream.ts'
import type { RequestClient } from './client.ts'
import type { Exchange } from './exchange.ts'

/** How long a request waits for its container, in ms: programs, and people who see what goes on. */
const [programTimeout, browserTimeout] = [30_000, 180_000]

/** How long a request waits for an API that is being restarted, in ms. */
const platformTimeout = 3_000

/**
 * Connects an exchange to its upstream, or explains why the container is unavailable. Never rejects.
 * @param ranBefore the request was sent to it before
 */
export async function connectOrExplain(
  config: GatewayConfig,
  client: RequestClient,
  exchange: Exchange,
  ranBefore = false,
): Promise<void> {
  try {
    await tryToConnect(config, client, exchange, isOwners(exchange.parts.upstream, exchange.caller), ranBefore)
  } catch (error) {
    if (exchange.isOver) return
    client.refuse(error instanceof GatewayRefusal ? error : gatewayRefusals.bug(error))
  }
}

/**
 * Whether it is a container, and its owner asks. Derived, not handed down: a request that is sent once more must wake its
 * owner's container as it did at first.
 */
const isOwners = (upstream: Upstream, caller: Caller | undefined): boolean =>
  upstream instanceof Route && caller?.userId === upstream.entry.ownerId

/** What a request to a container of this type counts as. Costs nothing where the type has no rules about use. */
export function requestUse({ ignoredPaths, isAskedForUse }: TypeRules, head: RequestHead, rest: string): RequestUse {
  if (ignoredPaths?.some((pattern) => matches(pattern, rest))) return 'none'
  return isAskedForUse && opensPage(head) ? 'navigation' : 'traffic'
}

/** @param pattern path below the container's address; `*` at its end stands for any rest @param rest begins with a slash, or is empty */
function matches(pattern: string, rest: string): boolean {
  return pattern.endsWith('*') ? rest.startsWith(pattern.slice(0, -1)) : rest === pattern
}

/**
 * What the request of this caller may cause of a container that does not run.
 * @param use what it counts as @param head undefined: data of a request that is under way
 */
export function wakeRightOf(
  upstream: Upstream,
  caller: Caller | undefined,
  use: RequestUse,
  head?: RequestHead,
): WakeRight {
  const isPage = head !== undefined && opensPage(head)
  if (upstream instanceof PortRoute && head !== undefined && isSentByDeadPort(head)) return 'none'
  if (use === 'none' && !isPage) return 'none'
  const isPoll = upstream instanceof Route && upstream.rules.isAskedForUse === true && !isPage
  const isVisitors = !isOwners(upstream, caller)
  if (isPoll && (head === undefined || isOfBrowser(head))) return isVisitors ? 'visitor-poll' : 'poll'
  if (isVisitors) return 'resume'
  return isPage ? 'start' : 'use'
}

async function tryToConnect(
  config: GatewayConfig,
  client: RequestClient,
  exchange: Exchange,
  isOwner: boolean,
  ranBefore: boolean,
): Promise<void> {
  const { upstream, head } = exchange.parts
  const showsProgress = upstream instanceof Route && head.method === 'GET' && isHtmlNavigation(head)
  const timeout =
    upstream instanceof PlatformUpstream ? platformTimeout : showsProgress ? browserTimeout : programTimeout
  const begun = performance.now()
  const isAsleep = upstream instanceof Route && 'reason' in upstream.entry.where
  const connecting = dialUpstream(upstream, config.control, {
    isWanted: () => !exchange.isOver,
    right: wakeRightOf(upstream, exchange.caller, exchange.parts.use, head),
    ranBefore,
    requestId: () => client.requestId,
    traceparent: client.traceparent,
    timeout,
    platformSocket: config.settings.platformSocket,
  })
  // A failure is told by those that wait for it.
  if (isAsleep && showsProgress)
    void connecting.then(
      (got) => noteWake(config, upstream, got, begun),
      () => undefined,
    )
  if (showsProgress && (await takesLong(connecting))) return showProgress(config, client, exchange, isOwner, connecting)
  let got: UpstreamConnection | Unavailable
  try {
    got = await connecting
  } catch (error) {
    return explainFailure(config, client, exchange, isOwner, error)
  }
  if (got instanceof UpstreamConnection) client.send(got)
  else if (!exchange.isOver) await respondUnavailable(config, client, exchange, isOwner, got)
}

function noteWake({ wakeTimes }: GatewayConfig, { entry }: Route, got: unknown, begun: number): void {
  if (got instanceof UpstreamConnection) wakeTimes.add(entry.type, performance.now() - begun)
}

async function respondUnavailable(
  config: GatewayConfig,
  client: RequestClient,
  exchange: Exchange,
  isOwner: boolean,
  unavailable: Unavailable | undefined,
  refusedPort?: number,
): Promise<void> {
  const { upstream, head } = exchange.parts
  if (!(upstream instanceof Route)) return client.refuse(gatewayRefusals.platformDown())
  const container = { ...containerOf(upstream, isOwner), refusedPort }
  const response = await unavailableResponse(config, head, unavailable, container)
  if (!exchange.isOver) client.respond(response)
}

/** The container runs, but its app cannot be reached; or the API cannot. */
async function explainFailure(
  config: GatewayConfig,
  client: RequestClient,
  exchange: Exchange,
  isOwner: boolean,
  error: unknown,
): Promise<void> {
  if (exchange.isOver) return
  const { upstream, head } = exchange.parts
  const isBug = !(error instanceof GatewayRefusal)
  if (isBug || !(upstream instanceof Route) || !isHtmlNavigation(head)) {
    if (upstream instanceof PlatformUpstream) return client.refuse(gatewayRefusals.platformDown())
    throw error
  }
  if (upstream instanceof PortRoute && isDeadPort(error))
    return respondDeadPort(config, client, exchange, upstream, isOwner, error)
  await respondUnavailable(config, client, exchange, isOwner, undefined, refusedPortOf(upstream, error))
}

/** Whether nothing listens at a further port, as far as is known: the container runs, and so may its app. */
const isDeadPort = (error: unknown): error is GatewayRefusal =>
  error instanceof GatewayRefusal && /^gateway\.(?:nothingListens|portUnreachable)$/.test(error.sentence.key)

async function respondDeadPort(
  config: GatewayConfig,
  client: RequestClient,
  exchange: Exchange,
  route: PortRoute,
  isOwner: boolean,
  refusal: GatewayRefusal,
): Promise<void> {
  const { head } = exchange.parts
  const {
    entry,
    port,
    rules: { sign },
  } = route
  const asked = isOwner ? config.control.listeningPorts(entry.prefix).catch(() => undefined) : undefined
  const { dashboardUrl, look } = config.settings
  const view = {
    port,
    listening: await asked,
    target: head.target,
    name: route.name,
    sign,
    dashboardUrl,
    language: requestLanguage(head),
    look,
  }
  if (!exchange.isOver) client.respond(deadPortResponse(refusal, view))
}

/** The port at which nothing listened, if that is what was wrong. */
function refusedPortOf({ address }: Route, error: unknown): number | undefined {
  return error instanceof GatewayRefusal && isRefused(error.cause) ? address?.port : undefined
}

/** How long people wait before they are shown what goes on, in ms: most containers are there by then. */
const progressDelay = 1_000

const stepStarting = message('pages.stepStarting')

const stepWaiting = message('pages.stepWaiting')

async function takesLong(work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, progressDelay, true)
  })
  const done = () => false
  const isLate = await Promise.race([work.then(done, done), late])
  clearTimeout(timer)
  return isLate
}

/** Streams a progress page that reloads by itself once the app responds. */
async function showProgress(
  config: GatewayConfig,
  client: RequestClient,
  exchange: Exchange,
  isOwner: boolean,
  connecting: Promise<UpstreamConnection | Unavailable>,
): Promise<void> {
  const { upstream, head } = exchange.parts
  if (!(upstream instanceof Route) || exchange.isOver) return
  const { displayName, sign } = upstream.rules
  const usualSeconds = config.wakeTimes.secondsOf(upstream.entry.type)
  const { dashboardUrl, look } = config.settings
  const language = requestLanguage(head)
  const isAwake = () => upstream.address !== undefined
  client.beginResponse(
    503,
    { 'retry-after': '5', ...contentLanguage(language), 'content-security-policy': policyFor(look, pagePolicy) },
    progressHead({ displayName, sign, usualSeconds, dashboardUrl, language, look }),
  )
  client.continueResponse(progressStep(isAwake() ? stepWaiting : stepStarting, language))
  const watch = isAwake() ? undefined : setInterval(tellWhenAwake, 100)
  function tellWhenAwake(): void {
    if (!isAwake()) return
    clearInterval(watch)
    if (!exchange.isOver) client.continueResponse(progressStep(stepWaiting, language))
  }
  let refusedPort: number | undefined
  let isDead = false
  const got = await connecting.catch((error: unknown) => {
    refusedPort = refusedPortOf(upstream, error)
    isDead = isDeadPort(error)
    return undefined
  })
  clearInterval(watch)
  if (got instanceof UpstreamConnection) got.release()
  if (exchange.isOver) return
  // A container with a dead port runs by now; the next request shows what listens in it.
  if (isDead || got instanceof UpstreamConnection)
    return client.finishResponse(progressReady(head.target, { language, look }))
  const container = { ...containerOf(upstream, isOwner), refusedPort }
  const view = unavailableView(config, head, container)
  const reason = await unavailableDetails(config, got, container)
  client.finishResponse(progressFailed(unavailableBody(reason, view), view))
}

/**
 * Response in place of an app that cannot be reached: a page with the reason, the last log lines for the owner and the
 * button that helps; `{error}` with `Retry-After` for programs.
 * @param unavailable undefined when the container runs but its app does not answer
 */
export async function unavailableResponse(
  config: GatewayConfig,
  head: RequestHead,
  unavailable: Unavailable | undefined,
  container: UnavailableContainer,
): Promise<GatewayResponse> {
  const view = unavailableView(config, head, container)
  if (!isHtmlNavigation(head)) return unavailableForPrograms(unavailable, view)
  return unavailableForBrowsers(unavailable, await unavailableDetails(config, unavailable, container), view)
}

/** What is known; the last log lines for the owner only. */
async function unavailableDetails(
  { control }: GatewayConfig,
  unavailable: Unavailable | undefined,
  { prefix, isOwner, displayName }: UnavailableContainer,
): Promise<UnavailableReason> {
  const known: Explanation = { unavailable, lastLines: [], displayName }
  if (!isOwner) return known
  const explained = await control.explain(prefix).catch(() => known)
  // A later look finds a container that sleeps, and knows nothing of the refusal.
  return { ...explained, unavailable: unavailable?.refusal ? unavailable : (explained.unavailable ?? unavailable) }
}

function unavailableView(
  config: GatewayConfig,
  head: RequestHead,
  { prefix, type, displayName, isOwner, refusedPort, sign }: UnavailableContainer,
): UnavailableView {
  const { settings, wakeTimes } = config
  const launch = `${settings.launchUrl}${settings.launchUrl.includes('?') ? '&' : '?'}type=${type}`
  return {
    prefix,
    displayName,
    isOwner,
    refusedPort,
    sign,
    usualSeconds: wakeTimes.secondsOf(type),
    launchHref: withNext(launch, platformPathOf(config, head)),
    dashboardUrl: settings.dashboardUrl,
    language: requestLanguage(head),
    look: settings.look,
  }
}

const containerOf = ({ entry: { prefix, type }, rules: { displayName, sign } }: Route, isOwner: boolean) => ({
  prefix,
  type,
  displayName,
  sign,
  isOwner,
})
