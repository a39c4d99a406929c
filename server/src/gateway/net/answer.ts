import type { Language } from '@berth/api/boot.ts'
import { contentLanguage } from '../../language.ts'
import { pagePolicy } from '../pages/document.ts'
import { refusalPage } from '../pages/refusal-page.ts'
import { say } from '../say.ts'
import { headLanguage } from './head-language.ts'
import { isNavigation, isWorkerScript } from './navigation.ts'
import type { GatewayRefusal } from './refusals.ts'
import type { RequestHead } from './request-head.ts'
import { cutTarget } from './target.ts'

/** Where people are led from a refusal. */
export interface WaysOn {
  readonly loginUrl: string
  readonly dashboardUrl: string
}

/** A list is one line for each. */
type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>

/** An answer of the gateway's own. */
export interface OwnAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
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
 * The answer to a refused request: the login page for a browser without a token, a page for other navigations,
 * `{error}` for all else. A service worker that asks for its script gets one that takes itself away: it would otherwise
 * go on answering in place of a container that is gone or somebody else's by now.
 * @param head undefined when the request could not be read
 */
export function refusalAnswer(head: RequestHead | undefined, refusal: GatewayRefusal, ways: WaysOn): OwnAnswer {
  if (head && mayEndWorker(head) && endsWorker.has(refusal.status)) return workerEnd
  const language = headLanguage(head)
  if (!head || !isNavigation(head)) return jsonAnswer(refusal, language)
  const { status, sentence, headers } = refusal
  if (status === 401) {
    const login = redirectAnswer(302, withNext(ways.loginUrl, head.target))
    const forgotten = headers['set-cookie']
    return forgotten ? { ...login, headers: { ...login.headers, 'set-cookie': forgotten } } : login
  }
  const page = refusalPage({ status, message: sentence, dashboardUrl: ways.dashboardUrl, language })
  return pageAnswer(status, page, language, headers)
}

/**
 * A script at `/nobody-dev` would get the scope `/` and take over the front end and everybody's pages until it unregisters.
 * No worker can have been registered there, so none has to be ended.
 */
const mayEndWorker = (head: RequestHead) => isWorkerScript(head) && cutTarget(head.target).rest !== ''

/** Not 403: that is also said to a script that must not be registered in the first place. */
const endsWorker = new Set([401, 404])
const workerEnd: OwnAnswer = {
  status: 200,
  headers: { ...always, 'content-type': 'text/javascript; charset=utf-8' },
  body: "self.addEventListener('install', () => self.skipWaiting())\nself.addEventListener('activate', () => self.registration.unregister())\n",
}

export function jsonAnswer({ status, sentence, headers }: GatewayRefusal, language: Language): OwnAnswer {
  const type = { 'content-type': 'application/json; charset=utf-8', ...contentLanguage(language) }
  const body = JSON.stringify({ error: say(language, sentence) })
  return { status, headers: { ...always, ...headers, ...type }, body }
}

/** A page of the gateway's own. */
export function pageAnswer(status: number, body: string, language: Language, headers: AnswerHeaders = {}): OwnAnswer {
  return { status, headers: { ...always, ...headers, ...asPage, ...contentLanguage(language) }, body }
}

/** Sends the client elsewhere. @param to goes into `Location` as it is */
export function redirectAnswer(status: 302 | 308, to: string): OwnAnswer {
  return { status, headers: { ...always, location: to }, body: '' }
}

/** An address of the front end with the way back: path and query only, so that it can never lead to another host. */
export function withNext(url: string, target: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}next=${encodeURIComponent(target)}`
}

/** The answer as it goes out. @param isHead no body follows, but its length is told */
export function answerText({ status, headers, body }: OwnAnswer, isHead: boolean, isLast: boolean): string {
  const lines = Object.entries({ ...headers, 'content-length': String(Buffer.byteLength(body)) })
    .filter(([name]) => name !== 'connection')
    .flatMap(([name, value]) => [value].flat().map((each) => `${name}: ${each}\r\n`))
  return `${headLine(status)}${lines.join('')}${isLast ? 'connection: close\r\n' : ''}\r\n${isHead ? '' : body}`
}

/** Head of a page that comes bit by bit, until the connection closes. */
export function openAnswerHead(status: number, headers: Readonly<Record<string, string>>): string {
  const all = { ...always, ...asPage, ...headers, connection: 'close' }
  return `${headLine(status)}${Object.entries(all)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`
}

const headLine = (status: number) => `HTTP/1.1 ${status} ${reasons[status] ?? 'Unknown'}\r\n`
