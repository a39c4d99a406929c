import { defaultLanguage } from '@berth/texts/language.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from './localize-plain.ts'
import { unframedPolicy } from './document.ts'
import type { HttpFault } from '#/http1/header-lines.ts'

/**
 * An expected "no" of the gateway. The API has its own; the gateway imports next to nothing of ours, so that it runs on its own.
 */
export class GatewayRefusal extends Error {
  readonly status: number
  /** Localized for the client. `message` is the same in English, for logs. */
  readonly sentence: LocalizedMessage
  readonly headers: Readonly<Record<string, string | readonly string[]>>

  /** @param sentence for the person who asked @param more `cause` is for the log only */
  constructor(
    status: number,
    sentence: LocalizedMessage,
    more: { headers?: Record<string, string | readonly string[]>; cause?: unknown } = {},
  ) {
    const text = localize(defaultLanguage, sentence)
    // Collecting where it was thrown takes longer than the rest of it.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(text, { cause: more.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'GatewayRefusal'
    this.status = status
    this.sentence = sentence
    this.headers = more.headers ?? {}
  }
}

// After bad framing the start of the next request is unknown, so the connection ends.
const hangUp = { connection: 'close' }
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const soon = { 'retry-after': '2' }
const hangUpSoon = { ...hangUp, ...soon }
const badToken = { 'www-authenticate': 'Bearer error="invalid_token"' }
/** No page of the app gets hold of a window whose address has a code in it that may be unused. */
const ownWindow = { 'cross-origin-opener-policy': 'same-origin', 'content-security-policy': unframedPolicy }

/** Every refusal of the gateway itself, by name. An app's own refusals pass through untouched. */
export const gatewayRefusals = {
  badMessage: ({ status, why }: HttpFault) =>
    new GatewayRefusal(status, message('gateway.badMessage', { why }), {
      headers: status === 405 ? { ...hangUp, allow: methods } : hangUp,
    }),
  badTarget: (why: 'oneSlash' | 'backslash' | 'badEscape' | 'climbs') =>
    new GatewayRefusal(400, message('gateway.badTarget', { why: message(`faults.${why}`) })),
  /** @param headers what makes the browser drop cookies, when it is these that are too long */
  headTooLarge: (limit: number, headers: Record<string, string | readonly string[]> = {}) =>
    new GatewayRefusal(
      431,
      message('set-cookie' in headers ? 'gateway.tooManyCookies' : 'gateway.headTooLarge', { limit }),
      { headers: { ...hangUp, ...headers } },
    ),
  targetTooLong: (max: number) => new GatewayRefusal(414, message('gateway.targetTooLong', { max })),
  pathTooLong: (max: number) => new GatewayRefusal(414, message('gateway.pathTooLong', { max })),
  tooSlow: () => new GatewayRefusal(408, message('gateway.tooSlow'), { headers: hangUp }),

  noToken: () => new GatewayRefusal(401, message('gateway.noToken'), { headers: { 'www-authenticate': 'Bearer' } }),
  /** As `noToken`, of a request that carries a token, as a Bearer token, that does not count (RFC 6750, 3.1). */
  invalidToken: () => new GatewayRefusal(401, message('gateway.noToken'), { headers: badToken }),
  /** For a stream or a WebSocket; requests that end by themselves are answered with such a token. */
  sessionBlocked: () => new GatewayRefusal(401, message('gateway.sessionBlocked'), { headers: badToken }),
  apiToken: () => new GatewayRefusal(401, message('gateway.apiToken'), { headers: badToken }),
  /** As `apiToken`, which section 2.3 of RFC 6750 lets clients send in a query. */
  secretInAddress: () => new GatewayRefusal(401, message('gateway.secretInAddress'), { headers: badToken }),
  /** @param setCookie what makes the browser forget them */
  tossedTokens: (setCookie: readonly string[]) =>
    new GatewayRefusal(401, message('gateway.tossedTokens'), { headers: { ...badToken, 'set-cookie': setCookie } }),
  /** @param setCookie lines that clear it */
  tokenOfAnotherHost: (setCookie: readonly string[]) =>
    new GatewayRefusal(401, message('gateway.tokenOfAnotherHost'), {
      headers: {
        ...badToken,
        ...(setCookie.length > 0 && { 'set-cookie': setCookie }),
      },
    }),
  nothingHere: () => new GatewayRefusal(404, message('gateway.nothingHere')),
  callerBlocked: () => new GatewayRefusal(403, message('gateway.callerBlocked')),
  notYours: () => new GatewayRefusal(403, message('gateway.notYours')),
  /** A visitor to whom the container is shown, but not given to use. */
  shareIsForLooking: () => new GatewayRefusal(403, message('gateway.shareIsForLooking')),
  containerBlocked: () => new GatewayRefusal(403, message('gateway.containerBlocked')),
  foreignOrigin: () => new GatewayRefusal(403, message('gateway.foreignOrigin')),
  /** What a page of another origin asks for with the cookie of a container's host. */
  foreignPage: () => new GatewayRefusal(403, message('gateway.foreignPage')),
  /** Whatever is wrong with it. */
  entryRefused: () => new GatewayRefusal(400, message('gateway.entryRefused'), { headers: ownWindow }),
  entryUnavailable: () =>
    new GatewayRefusal(503, message('gateway.platformDown'), { headers: { ...hangUpSoon, ...ownWindow } }),
  workerWhileActing: () => new GatewayRefusal(403, message('gateway.isolatedWorker')),
  visitorsWorker: () => new GatewayRefusal(404, message('gateway.isolatedWorker')),
  pageWhileActing: () => new GatewayRefusal(403, message('gateway.pageWhileActing')),
  workerOnBarePrefix: () => new GatewayRefusal(403, message('gateway.workerOnBarePrefix')),

  tooManyConnections: () => new GatewayRefusal(503, message('gateway.tooManyConnections'), { headers: hangUpSoon }),
  tooManyOfYours: (max: number) =>
    new GatewayRefusal(429, message('gateway.tooManyOfYours', { max }), {
      headers: { ...hangUp, 'retry-after': '10' },
    }),
  starting: () => new GatewayRefusal(503, message('gateway.starting'), { headers: { ...hangUp, 'retry-after': '1' } }),
  /** With several nodes: a block may be missing here. */
  behind: () => new GatewayRefusal(503, message('gateway.behind'), { headers: hangUpSoon }),
  /** Without a cause: the supervisor of the API has logged it already, once and not for every request. */
  platformDown: () => new GatewayRefusal(503, message('gateway.platformDown'), { headers: hangUpSoon }),
  shuttingDown: () =>
    new GatewayRefusal(503, message('gateway.shuttingDown'), { headers: { ...hangUp, 'retry-after': '5' } }),
  changed: () => new GatewayRefusal(503, message('gateway.changed'), { headers: { 'retry-after': '1' } }),
  appNotReady: () => new GatewayRefusal(503, message('gateway.appNotReady'), { headers: hangUpSoon }),
  /** A further port of a container. */
  nothingListens: (port: number) => new GatewayRefusal(502, message('gateway.nothingListens', { port })),
  /** It may listen on loopback, which cannot be reached now. @param cause for the log */
  portUnreachable: (port: number, cause: unknown) =>
    new GatewayRefusal(502, message('gateway.portUnreachable', { port }), { headers: soon, cause }),
  /** @param cause what the connection to the app said; it reaches the log, never the client */
  appFailed: (cause: unknown) =>
    new GatewayRefusal(502, message('gateway.appFailed'), {
      headers: hangUp,
      cause,
    }),
  bug: (cause: unknown) => new GatewayRefusal(500, message('gateway.bug'), { headers: hangUp, cause }),
} as const
