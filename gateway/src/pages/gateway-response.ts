import type { Language } from '@berth/api/boot.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { isBrowser, isHtmlNavigation, isServiceWorkerScript, requestLanguage } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { isApiTarget } from '#/http1/request-path.ts'
import type { PageLook } from '#/port/gateway.ts'
import { completeDocument, escaped, mainLink, pagePolicy, policyFor } from './document.ts'
import type { GatewayRefusal } from './gateway-refusals.ts'
import { localize } from './localize-plain.ts'
import { sandboxNote } from './sandbox-note.ts'

/** Where people are led from a refusal. */
export interface RefusalLinks {
  readonly continueUrl: string
  readonly dashboardUrl: string
  /** Undefined: Berth's own. */
  readonly look?: PageLook | undefined
  /** Of a request to the host of a container. */
  readonly ownHost?: {
    /** As it stands in addresses, with its scheme. */
    readonly origin: string
    /** Path of the platform's host that leads back. */
    readonly platformPath: string
    /** Begins the way by which a person gets in; undefined for a frame. */
    readonly enter: (() => EntryRedirect) | undefined
  }
}

/** The way to the platform for a code, and the cookie that it is made for. */
export interface EntryRedirect {
  readonly location: string
  readonly setCookie: string
}

/** A list is one line for each. */
type ResponseHeaders = Readonly<Record<string, string | readonly string[]>>

/** An answer of the gateway's own. */
export interface GatewayResponse {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: string
}

const always = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }
/** `node:http` has them, too, and takes 13 MB of memory as soon as it is loaded. */
const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  302: 'Found',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Payload Too Large',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  505: 'HTTP Version Not Supported',
}
const asPage = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy }

/**
 * The answer to a refused request: for a browser without a token the address that renews its session or leads to the
 * login page, a page for other navigations, `{error}` for all else and for the API, as by the API itself. A service worker
 * that asks for its script gets one that takes itself away: it would otherwise go on answering in place of a container that
 * is gone or belongs to another user by now. Scripts and styles of a visitor's page in a sandbox get ones that say why it stays
 * empty.
 * @param head undefined when the request could not be read
 */
export function refusalResponse(
  head: RequestHead | undefined,
  refusal: GatewayRefusal,
  links: RefusalLinks,
): GatewayResponse {
  if (head && mayUnregisterWorker(head, links) && unregisterStatuses.has(refusal.status))
    return unregisterWorkerResponse
  if (head && mayBeOfSandbox(refusal, links)) {
    const note = sandboxNote(head)
    if (note) return noteResponse(note)
  }
  const language = requestLanguage(head)
  if (!head || isForApi(head, links)) return jsonResponse(refusal, language)
  if (!isHtmlNavigation(head)) return jsonResponse(refusal, language, refusal.status === 401 && isBrowser(head))
  const { status, sentence, headers } = refusal
  const login = leadsToLogin(refusal) ? loginRedirect(links, head.target, headers['set-cookie']) : undefined
  if (login) return login
  const { dashboardUrl, ownHost, look } = links
  const platformPath = ownHost?.platformPath ?? head.target
  const loginUrl =
    sentence.key === 'gateway.notYours' ? withNext(loginUrlBeside(dashboardUrl), platformPath) : undefined
  // The code of the address is of no use any more; the page before it asks for another one.
  const againUrl = sentence.key === 'gateway.entryRefused' && ownHost ? `${ownHost.origin}/` : undefined
  const page = refusalPage({ status, message: sentence, dashboardUrl, againUrl, loginUrl, language, look })
  return sandboxed(pageResponse(status, page, language, { headers, look }))
}

/**
 * The page of a refusal may stand at the address of a link that signs someone in, as while the API starts. In a sandbox it has an
 * origin of its own, so that pages of containers neither read it nor see its address.
 */
function sandboxed({ headers, ...response }: GatewayResponse): GatewayResponse {
  const policy = `${String(headers['content-security-policy'])}; sandbox allow-popups allow-top-navigation-by-user-activation`
  return { ...response, headers: { ...headers, 'content-security-policy': policy } }
}

/** At the host of a container every path is the app's. */
const isForApi = ({ target }: RequestHead, { ownHost }: RefusalLinks) => ownHost === undefined && isApiTarget(target)

/** @param forgotten `Set-Cookie` lines of the refusal @returns undefined for a frame at the host of a container */
function loginRedirect(
  { continueUrl, ownHost }: RefusalLinks,
  target: string,
  forgotten: string | readonly string[] = [],
): GatewayResponse | undefined {
  if (ownHost && !ownHost.enter) return undefined
  const entry = ownHost?.enter?.()
  const { headers, ...response } = redirectResponse(302, entry?.location ?? withNext(continueUrl, target))
  const setCookie = [forgotten, entry?.setCookie ?? []].flat()
  return { ...response, headers: setCookie.length === 0 ? headers : { ...headers, 'set-cookie': setCookie } }
}

/** An address with a secret in it would lead back to itself after each sign-in. */
const leadsToLogin = ({ status, sentence }: GatewayRefusal) =>
  status === 401 && sentence.key !== 'gateway.secretInAddress'

/** The login page of the front end that the dashboard belongs to. */
const loginUrlBeside = (dashboardUrl: string) => dashboardUrl.replace(/\/[^/]*$/, '/login')

/**
 * A script at `/unknown-dev` would get the scope `/` and take over the front end and the pages of all users until it unregisters.
 * No worker can have been registered there, so none has to be ended.
 */
const mayUnregisterWorker = (head: RequestHead, { ownHost }: RefusalLinks) =>
  isServiceWorkerScript(head) && (ownHost !== undefined || head.path.rest !== '')

/** Not 403: that is also the response to a script that must not be registered in the first place. */
const unregisterStatuses = new Set([401, 404])
/** Ends a service worker that asks for its script. */
const unregisterWorkerResponse: GatewayResponse = {
  status: 200,
  headers: { ...always, 'content-type': 'text/javascript; charset=utf-8' },
  body: "self.addEventListener('install', () => self.skipWaiting())\nself.addEventListener('activate', () => self.registration.unregister())\n",
}

/** A request without a sign-in. At the host of a container no page has a sandbox. */
const mayBeOfSandbox = ({ sentence }: GatewayRefusal, { ownHost }: RefusalLinks) =>
  ownHost === undefined && sentence.key === 'gateway.noToken'

/** Module scripts, and those with `crossorigin`, need the permission of CORS. */
const noteResponse = ({ contentType, body }: NonNullable<ReturnType<typeof sandboxNote>>): GatewayResponse => ({
  status: 200,
  headers: { ...always, 'content-type': contentType, 'access-control-allow-origin': '*' },
  body,
})

/** Of a node among several: its gateway lives. The API's own answer comes from the node that leads, which may be away. */
export const livenessResponse: GatewayResponse = {
  status: 200,
  headers: { ...always, 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify({ status: 'ok' }),
}

/** To `OPTIONS` of the whole server (RFC 9110, 9.3.7). */
export const optionsResponse: GatewayResponse = {
  status: 200,
  headers: { ...always, allow: 'GET, HEAD, OPTIONS' },
  body: '',
}

/**
 * @param isForApp the script of an app may show it: JupyterLab shows `message`, and says "Invalid response: 401" otherwise
 */
export function jsonResponse(
  { status, sentence, headers }: GatewayRefusal,
  language: Language,
  isForApp = false,
): GatewayResponse {
  const type = {
    'content-type': 'application/json; charset=utf-8',
    // As the API has it: a browser may show this as a document, whose address has a secret in it.
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    ...contentLanguage(language),
  }
  const error = localize(language, sentence)
  const body = JSON.stringify(isForApp ? { error, message: error } : { error })
  return { status, headers: { ...always, ...headers, ...type }, body }
}

/** A page of the gateway's own. */
export function pageResponse(
  status: number,
  body: string,
  language: Language,
  { headers = {}, look }: { readonly headers?: ResponseHeaders; readonly look?: PageLook | undefined } = {},
): GatewayResponse {
  const all = { ...always, ...asPage, ...headers, ...contentLanguage(language) }
  const policy = policyFor(look, String(all['content-security-policy']))
  return { status, headers: { ...all, 'content-security-policy': policy }, body }
}

/** Sends the client elsewhere. @param to goes into `Location` as it is */
export function redirectResponse(status: 302 | 308, to: string): GatewayResponse {
  return { status, headers: { ...always, location: to }, body: '' }
}

/** Max length of `next`, in bytes: with it the address stays below `maxPlatformTarget`. A longer one is left out. */
const maxNext = 4_096

/** An address of the front end with the way back: path and query only, so that it can never lead to another host. */
export function withNext(url: string, target: string): string {
  const next = encodeURIComponent(target)
  return next.length > maxNext ? url : `${url}${url.includes('?') ? '&' : '?'}next=${next}`
}

/** The answer as it goes out. @param isHead no body follows, but its length is given */
export function serializeResponse(
  { status, headers, body }: GatewayResponse,
  requestId: string,
  isHead: boolean,
  isLast: boolean,
): string {
  const lines = Object.entries({
    ...headers,
    'x-request-id': requestId,
    'content-length': String(Buffer.byteLength(body)),
  })
    .filter(([name]) => name !== 'connection')
    .flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}\r\n`))
  return `${headLine(status)}${lines.join('')}${isLast ? 'connection: close\r\n' : ''}\r\n${isHead ? '' : body}`
}

/** Head of a page that comes bit by bit, until the connection closes. */
export function streamedResponseHead(
  status: number,
  headers: Readonly<Record<string, string>>,
  requestId: string,
): string {
  const all = { ...always, ...asPage, ...headers, 'x-request-id': requestId, connection: 'close' }
  return `${headLine(status)}${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

const headLine = (status: number) => `HTTP/1.1 ${status} ${reasons[status] ?? 'Unknown'}\r\n`

export interface RefusalView {
  readonly status: number
  /** In place of the status's usual title. */
  readonly title?: LocalizedMessage
  /** For the person who asked: why, and what to do. */
  readonly message: LocalizedMessage
  readonly dashboardUrl: string
  /** Where the way in that was refused begins anew; undefined where there is none. */
  readonly againUrl?: string | undefined
  /** Where another account signs in and comes back; undefined where that would not help. */
  readonly loginUrl?: string | undefined
  readonly language: Language
  readonly look?: PageLook | undefined
}

const titles: Readonly<Record<number, LocalizedMessage>> = {
  400: message('pages.title400'),
  401: message('pages.title400'),
  403: message('pages.title403'),
  404: message('pages.title404'),
  405: message('pages.title405'),
  414: message('pages.title414'),
  429: message('pages.title429'),
  431: message('pages.title431'),
  502: message('pages.title502'),
  503: message('pages.title503'),
  504: message('pages.title504'),
}

/** A complete page that tells a person why they see no app, and the way on. Send it with `pagePolicy`. */
export function refusalPage(view: RefusalView): string {
  const { status, dashboardUrl, language, look } = view
  const heading = localize(language, view.title ?? titles[status] ?? message('pages.titleOther'))
  return completeDocument(
    { title: heading, dashboardUrl, language, look },
    {
      html: `<h1>${escaped(heading)}</h1>
<p>${escaped(localize(language, view.message))}</p>
${linksOf(view).join('\n')}
<p class="hint">${escaped(localize(language, message('pages.status', { status })))}</p>
`,
    },
  )
}

function linksOf({ againUrl, dashboardUrl, loginUrl, language }: RefusalView): string[] {
  const targets = [
    { url: againUrl, text: message('pages.openAgain') },
    { url: dashboardUrl, text: message('pages.openDashboard') },
    { url: loginUrl, text: message('pages.otherAccount') },
  ]
  return targets
    .flatMap(({ url, text }) => (url === undefined ? [] : [[url, localize(language, text)] as const]))
    .map(([url, text], at) =>
      at === 0 ? mainLink(url, text) : `<p><a href="${escaped(url)}">${escaped(text)}</a></p>`,
    )
}
