import type { Language } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { ListeningPort, PageLook } from '#/port/gateway.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { completeDocument, containerTitle, escaped, mainLink, reloadHref, type Markup } from './document.ts'
import type { GatewayRefusal } from './gateway-refusals.ts'
import { pageResponse, type GatewayResponse } from './gateway-response.ts'
import { localize } from './localize-plain.ts'

/** Seconds after which the page asks again. */
const reloadAfter = 3

/** A further port of a container, at which nothing listens, and who looks. */
export interface DeadPortView {
  readonly port: number
  /** What listens in its place, for its owner; undefined for visitors, and when it cannot be told. */
  readonly listening: readonly ListeningPort[] | undefined
  /** Path and query of the request, as they came. */
  readonly target: string
  /** Of the port: `/ann-dev:3000`, which is no part of the path on a host of its own. */
  readonly name: string
  /** As in `TypeRules`. */
  readonly sign?: string | undefined
  readonly dashboardUrl: string
  readonly language: Language
  readonly look?: PageLook | undefined
}

/**
 * Lasts until the page has asked again. Without it a page that was left open started its container again within seconds of each stop, and
 * that of a visitor had a paused one go on.
 */
const waitCookie = 'spawner_port_waits'

/** Whether the page of a dead port asks again, or has just done so: no person wants the container to start now. */
export const isSentByDeadPort = ({ fields }: RequestHead): boolean => cookieValues(fields.cookie, waitCookie).length > 0

/** The page that says that nothing listens there, and what does; it asks again by itself, and so gives way to the program. */
export function deadPortResponse(refusal: GatewayRefusal, view: DeadPortView): GatewayResponse {
  const { port, dashboardUrl, language, look } = view
  const title = localize(language, message('pages.deadPortTitle', { port }))
  const page = completeDocument({ title, dashboardUrl, language, look }, deadPortBody(title, refusal, view))
  const path = view.target.startsWith(view.name) ? view.name : '/'
  const setCookie = `${waitCookie}=1; Path=${path}; Max-Age=${reloadAfter + 7}; HttpOnly; SameSite=Lax`
  return pageResponse(refusal.status, page, language, {
    headers: { ...refusal.headers, 'set-cookie': setCookie },
    look,
  })
}

function deadPortBody(
  title: string,
  refusal: GatewayRefusal,
  { language, listening, sign, target }: DeadPortView,
): Markup {
  const refreshed = /^\/(?![/\\])[^\s\\]*$/.test(target) ? `; url=${escaped(target)}` : ''
  const sentence = localize(language, refusal.sentence)
  // Often the title says all of it.
  const said = sentence === `${title}.` ? '' : `<p>${escaped(sentence)}</p>\n`
  return {
    html: `${containerTitle(title, sign)}
${said}<p>${escaped(localize(language, message('pages.deadPortWaits')))}</p>
${listOf(listening, language)}${mainLink(reloadHref, localize(language, message('pages.tryAgain')))}
<meta http-equiv="refresh" content="${reloadAfter}${refreshed}">
`,
  }
}

function listOf(listening: readonly ListeningPort[] | undefined, language: Language): string {
  if (listening === undefined) return ''
  if (listening.length === 0) return `<p>${escaped(localize(language, message('pages.deadPortNone')))}</p>\n`
  const items = listening.map(({ port, url }) => `<li><a href="${escaped(url)}">${port}</a></li>`)
  return `<p>${escaped(localize(language, message('pages.deadPortOthers')))}</p>\n<ul>\n${items.join('\n')}\n</ul>\n`
}
