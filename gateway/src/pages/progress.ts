import type { Language } from '@berth/api/boot.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { ClientConnection } from '#/clients/client-connection.ts'
import type { GatewayConfig } from '#/gateway-context.ts'
import { requestLanguage } from '#/http1/browser-request.ts'
import type { PageLook, Unavailable } from '#/port/gateway.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { Route } from '#/upstream/route.ts'
import { UpstreamConnection } from '#/upstream/upstream.ts'
import {
  closeDocument,
  escaped,
  mainLink,
  openDocument,
  pagePolicy,
  policyFor,
  reloadHref,
  type Markup,
} from './document.ts'
import { localize } from './localize-plain.ts'
import { containerOf, unavailableBody, unavailableDetails, unavailableView } from './unavailable.ts'

/** How long people wait before they are shown what goes on, in ms: most containers are there by then. */
const progressDelay = 1_000

const stepStarting = message('pages.stepStarting')

const stepWaiting = message('pages.stepWaiting')

export async function takesLong(work: Promise<unknown>): Promise<boolean> {
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
export async function showProgress(
  config: GatewayConfig,
  client: ClientConnection,
  exchange: Exchange,
  isOwner: boolean,
  connecting: Promise<UpstreamConnection | Unavailable>,
): Promise<void> {
  const { upstream, head } = exchange.parts
  if (!(upstream instanceof Route) || exchange.isOver) return
  const { displayName } = upstream.rules
  const { dashboardUrl, look } = config.settings
  const language = requestLanguage(head)
  const isAwake = () => upstream.address !== undefined
  client.beginResponse(
    503,
    { 'retry-after': '5', ...contentLanguage(language), 'content-security-policy': policyFor(look, pagePolicy) },
    progressHead({ displayName, dashboardUrl, language, look }),
  )
  client.continueResponse(progressStep(isAwake() ? stepWaiting : stepStarting, language))
  const watch = isAwake() ? undefined : setInterval(tellWhenAwake, 100)
  function tellWhenAwake(): void {
    if (!isAwake()) return
    clearInterval(watch)
    if (!exchange.isOver) client.continueResponse(progressStep(stepWaiting, language))
  }
  const got = await connecting.catch(() => undefined)
  clearInterval(watch)
  if (got instanceof UpstreamConnection) got.release()
  if (exchange.isOver) return
  if (got instanceof UpstreamConnection) return client.finishResponse(progressReady(head.target, { language, look }))
  const view = unavailableView(config, head, containerOf(upstream, isOwner))
  client.finishResponse(
    progressFailed(unavailableBody(await unavailableDetails(config, got, containerOf(upstream, isOwner)), view), view),
  )
}

/**
 * A page that is sent in pieces while a container starts: `progressHead`, any number of `progressStep`, then
 * `progressReady` or `progressFailed`. The connection stays open in between, and a browser shows each piece when it comes, without a script.
 * Send it with status 503, `Retry-After`, `Cache-Control: no-store`, `X-Content-Type-Options: nosniff` (a browser that
 * guesses the type waits for more) and `pagePolicy`.
 *
 * Nothing reloads on a timer. A timer at the top would start only when the document is complete, and would then take
 * away the reason of a failure under its reader's eyes. Where the connection breaks, the link "Try again" is there.
 */
export function progressHead({ displayName: name, dashboardUrl, language, look }: ProgressView): string {
  const localized = (text: LocalizedMessage) => escaped(localize(language, text))
  const starting = localized(message('pages.startingName', { name }))
  return `${openDocument({ title: name, dashboardUrl, language, look })}<div class="waiting part">
<h1>${starting}</h1>
<p>${localized(message('pages.startingText', { name }))}</p>
<div class="bar" role="progressbar" aria-label="${starting}"></div>
<p class="hint">${localized(message('pages.nothingNew'))} <a href="${reloadHref}">${localized(message('pages.tryAgain'))}</a></p>
<div role="log" aria-label="${localized(message('pages.steps'))}">
<ol class="steps">
`
}

export interface ProgressView {
  readonly displayName: string
  readonly dashboardUrl: string
  readonly language: Language
  readonly look?: PageLook | undefined
}

/** What the end of a page needs of its view. */
type PageEnd = Pick<ProgressView, 'language' | 'look'>

/** What happens from now on, with a clock that runs until the next step follows. @param step a few words */
export function progressStep(step: LocalizedMessage, language: Language): string {
  return `<li><span>${escaped(localize(language, step))}</span> <span class="clock" aria-hidden="true"></span></li>\n`
}

/**
 * The last piece when the app answers: the browser asks again by itself. It asks for the target by name, because a page
 * with a fragment (`#/notes`) that refreshes to its very own address only scrolls. The fragment itself is lost: the
 * server never sees it, and there is no script that could.
 * @param target path and query of the request, as they came
 */
export function progressReady(target: string, { language, look }: PageEnd): string {
  const href = isPath(target) ? target : reloadHref
  return `<li>${escaped(localize(language, message('pages.answers')))}</li>
</ol>
</div>
</div>
<div class="ready part">
<meta http-equiv="refresh" content="0${href === reloadHref ? '' : `; url=${escaped(href)}`}">
${mainLink(href, localize(language, message('pages.goOn')))}
</div>
${closeDocument({ language, look })}`
}

/** The last piece when it does not: why not (`unavailableBody`), in place of the progress. */
export function progressFailed(reason: Markup, end: PageEnd): string {
  return `</ol>
</div>
</div>
<div class="failed part" role="alert">
${reason.html}</div>
${closeDocument(end)}`
}

/** Of this host: two slashes, or a backslash for one of them, would lead to another. */
const isPath = (target: string) => /^\/(?![/\\])[^\s\\]*$/.test(target)
