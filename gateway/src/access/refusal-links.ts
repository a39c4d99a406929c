import { cookieSettingsOf, type GatewayConfig } from '#/gateway-context.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { EntryRedirect, RefusalLinks } from '#/pages/gateway-response.ts'
import type { ContainerHost, ContainerHosts } from './container-hosts.ts'
import { beginAttempt } from './entry-attempt.ts'
import { isWindowNavigation } from './foreign-request.ts'

/** Max length of the return path, in characters: with it the address stays below `maxPlatformTarget`. A longer one is left out. */
const maxNext = 2_048

/** Where people are led from a refusal of this request. */
export function refusalLinks(config: GatewayConfig | undefined, head: RequestHead | undefined): RefusalLinks {
  if (!config) return { continueUrl: '/', dashboardUrl: '/' }
  const { settings, containerHosts } = config
  const host = head && containerHosts?.containerOf(head.fields.host)
  if (!containerHosts || !host) return settings
  const { continueUrl, dashboardUrl, look } = settings
  // The platform's pages cannot be framed, so a frame could not be led through them.
  const isWindow = isWindowNavigation(head.text)
  const enter = isWindow ? () => entryRedirect(config, containerHosts, host, head.target) : undefined
  const ownHost = { origin: host.origin, platformPath: platformPathOf(config, head), enter }
  return { continueUrl, dashboardUrl, look, ownHost }
}

/** Path and query at which the platform's host leads back to the address of this request. */
export function platformPathOf({ containerHosts }: GatewayConfig, { target, fields }: RequestHead): string {
  const host = containerHosts?.containerOf(fields.host)
  return host ? `/${host.prefix}${target}` : target
}

/** To the platform, where a signed-in browser gets a code for this host and this attempt. */
function entryRedirect(
  config: GatewayConfig,
  { entryUrl }: ContainerHosts,
  { prefix }: ContainerHost,
  target: string,
): EntryRedirect {
  const { attempt, setCookie } = beginAttempt(cookieSettingsOf(config))
  const next = target.length <= maxNext ? target : '/'
  const query = new URLSearchParams({ container: prefix, browser: attempt.browser, next })
  return { location: `${entryUrl}?${query}`, setCookie }
}
