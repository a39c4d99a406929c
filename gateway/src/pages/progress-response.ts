import { contentLanguage } from '@berth/texts/language.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { Unavailable } from '#/port/gateway-state.ts'
import { pagePolicy, policyFor } from '../pages/document.ts'
import { unavailableBody } from '../pages/unavailable-page.ts'
import { progressFailed, progressHead, progressReady, progressStep } from '../pages/progress-page.ts'
import { unavailableDetails, unavailableView, containerOf } from './unavailable-response.ts'
import { UpstreamConnection } from '#/upstream/upstream-connection.ts'
import type { ClientConnection } from '#/clients/client-connection.ts'
import type { GatewayConfig } from '#/gateway-context.ts'
import type { Exchange } from '#/proxy/exchange.ts'
import { requestLanguage } from '#/http1/browser-request.ts'
import { Route } from '#/upstream/route.ts'

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
