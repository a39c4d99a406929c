import { message } from '@berth/texts/localized-message.ts'
import type { Unavailable, Explanation } from '#/port/gateway-state.ts'
import { unavailablePage, type UnavailableReason, type UnavailableView } from '../pages/unavailable-page.ts'
import { causeOf, unavailableMessages, type UnavailableCause } from '../pages/unavailable-messages.ts'
import { jsonResponse, pageResponse, withNext, type GatewayResponse } from './gateway-response.ts'
import type { GatewayConfig } from '#/gateway-context.ts'
import { platformPathOf } from '#/access/refusal-links.ts'
import { requestLanguage, isHtmlNavigation } from '#/http1/browser-request.ts'
import { GatewayRefusal } from './gateway-refusals.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { Route } from '#/upstream/route.ts'

/** The container that is unavailable, and whether its owner asks. */
export interface UnavailableContainer {
  readonly prefix: string
  /** As encoded in its path. */
  readonly type: string
  readonly displayName: string
  readonly isOwner: boolean
}

/** Seconds until trying again makes sense; a crash waits for a person. */
const retryAfter: Partial<Record<UnavailableCause, string>> = { asleep: '2', unknown: '10', unreachable: '5' }

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
  const language = requestLanguage(head)
  const known = causeOf(unavailable, { isOwner: container.isOwner, language })
  const status = known.cause === 'unreachable' ? 502 : 503
  const headers = { 'retry-after': retryAfter[known.cause] ?? '30' }
  if (!isHtmlNavigation(head)) {
    const { title, what, todo } = unavailableMessages(known, container.displayName)
    return jsonResponse(
      new GatewayRefusal(status, message('gateway.absent', { title, what, todo }), { headers }),
      language,
    )
  }
  const reason = await unavailableDetails(config, unavailable, container)
  const page = unavailablePage(reason, unavailableView(config, head, container))
  return pageResponse(status, page, language, { headers, look: config.settings.look })
}

/** What is known; the last log lines for the owner only. */
export async function unavailableDetails(
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

export function unavailableView(
  config: GatewayConfig,
  head: RequestHead,
  { prefix, type, displayName, isOwner }: UnavailableContainer,
): UnavailableView {
  const { settings } = config
  const launch = `${settings.launchUrl}${settings.launchUrl.includes('?') ? '&' : '?'}type=${type}`
  return {
    prefix,
    displayName,
    isOwner,
    launchHref: withNext(launch, platformPathOf(config, head)),
    dashboardUrl: settings.dashboardUrl,
    language: requestLanguage(head),
    look: settings.look,
  }
}

export const containerOf = ({ entry: { prefix, type }, rules: { displayName } }: Route, isOwner: boolean) => ({
  prefix,
  type,
  displayName,
  isOwner,
})
