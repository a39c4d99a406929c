import { entryPath } from '#/basics/host-label.ts'
import type { ClientConnection } from '#/clients/client-connection.ts'
import { cookieSettingsOf, type GatewayConfig } from '#/gateway-context.ts'
import { headerValue } from '#/http1/header-lines.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { redirectResponse } from '#/pages/gateway-response.ts'
import type { ContainerHost } from './container-hosts.ts'
import { attemptsIn, endAttempt } from './entry-attempt.ts'
import { isWindowNavigation } from './foreign-request.ts'

/** A code of ours, and nothing else. */
const queryForm = /^\?code=([\w-]{43})$/

/**
 * Answers the paths of a container's host that are Berth's own. There is one: it takes the code that the platform gave to
 * this browser, and sets the cookie that opens this host. Nothing of it reaches the app. Never rejects.
 */
export async function serveEntry(
  config: GatewayConfig,
  host: ContainerHost,
  client: ClientConnection,
  head: RequestHead,
): Promise<void> {
  const [path, query] = splitQuery(head.target)
  if (path !== entryPath) return client.refuse(gatewayRefusals.nothingHere())
  const code = queryForm.exec(query)?.[1]
  const settings = cookieSettingsOf(config)
  const attempts = attemptsIn(head.fields.cookie, settings)
  if (code === undefined || attempts.length === 0 || !isTopNavigation(head))
    return client.refuse(gatewayRefusals.entryRefused())
  const browsers = attempts.map(({ browser }) => browser)
  const entry = await config.control.enterHost(code, host.prefix, browsers).catch(() => null)
  if (client.isGone) return
  if (entry === null) return client.refuse(gatewayRefusals.entryUnavailable())
  const attempt = entry && attempts.find(({ browser }) => browser === entry.browser)
  if (!entry || !attempt) return client.refuse(gatewayRefusals.entryRefused())
  const { headers, ...response } = redirectResponse(302, `${host.origin}${entry.next}`)
  const setCookie = [...entry.setCookie, endAttempt(attempt, settings)]
  client.respond({ ...response, headers: { ...headers, 'set-cookie': setCookie } })
}

/** A person's own navigation, as far as the browser says: no script, no frame, nothing fetched ahead. */
function isTopNavigation({ method, text }: RequestHead): boolean {
  const ahead = ['sec-purpose', 'purpose', 'x-moz'].some((name) => headerValue(text, name) !== undefined)
  return method === 'GET' && !ahead && isWindowNavigation(text)
}

function splitQuery(target: string): [string, string] {
  const mark = target.indexOf('?')
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark)]
}
