import type { MessageFault } from './header-lines.ts'

/**
 * An expected "no" of the gateway. The API has its own; the gateway imports next to nothing of ours, so that it runs on its own.
 */
export class GatewayRefusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>

  /** @param message for the person who asked @param more `cause` is for the log only */
  constructor(
    status: number,
    message: string,
    more: { headers?: Record<string, string | readonly string[]>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'GatewayRefusal'
    this.status = status
    this.headers = more.headers ?? {}
  }
}

// After bad framing nobody knows where the next request on the connection begins, so the connection ends.
const hangUp = { connection: 'close' }
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const soon = { 'retry-after': '2' }

/** Every "no" that the gateway says itself, by name. An app's own refusals pass through untouched. */
export const gatewayRefusals = {
  badMessage: ({ status, why }: MessageFault) =>
    new GatewayRefusal(status, `This request is not valid. ${why}`, {
      headers: status === 405 ? { ...hangUp, allow: methods } : hangUp,
    }),
  badTarget: (why: string) => new GatewayRefusal(400, `This address is not valid. ${why}`),
  headTooLarge: (limit: number) =>
    new GatewayRefusal(431, `Address, headers and cookies are too large together: at most ${limit} bytes.`, {
      headers: hangUp,
    }),
  tooSlow: () => new GatewayRefusal(408, 'The request did not arrive in time.', { headers: hangUp }),

  noToken: () =>
    new GatewayRefusal(401, 'Sign in first: this container needs an access token.', {
      headers: { 'www-authenticate': 'Bearer' },
    }),
  /** @param setCookie what makes the browser forget them */
  tossedTokens: (setCookie: readonly string[]) =>
    new GatewayRefusal(401, 'The browser sent several access tokens, so none of them is believed. Sign in again.', {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"', 'set-cookie': setCookie },
    }),
  nothingHere: () => new GatewayRefusal(404, 'There is no container at this address.'),
  callerBlocked: () => new GatewayRefusal(403, 'This account is blocked. Ask your administrator.'),
  notYours: () => new GatewayRefusal(403, 'This container belongs to somebody else.'),
  containerBlocked: () => new GatewayRefusal(403, 'This container is blocked. Ask your administrator.'),
  foreignOrigin: () => new GatewayRefusal(403, 'A WebSocket may be opened only by a page of this host.'),
  workerOnBarePrefix: () =>
    new GatewayRefusal(403, 'A service worker may not be registered at this address: it would reach other containers.'),

  tooManyConnections: () =>
    new GatewayRefusal(503, 'Too many connections are open at the moment. Try again in a moment.', {
      headers: { ...hangUp, ...soon },
    }),
  tooManyOfYours: (most: number) =>
    new GatewayRefusal(429, `You have too many connections open: at most ${most}. Close some pages first.`, {
      headers: { ...hangUp, 'retry-after': '10' },
    }),
  starting: () =>
    new GatewayRefusal(503, 'Berth is starting. Try again in a second.', {
      headers: { ...hangUp, 'retry-after': '1' },
    }),
  /** Without a cause: whoever watches over the API has said so already, once and not for every request. */
  platformDown: () =>
    new GatewayRefusal(503, 'Berth is restarting; what is open stays open. Try again in a moment.', {
      headers: { ...hangUp, ...soon },
    }),
  shuttingDown: () =>
    new GatewayRefusal(503, 'Berth is restarting. Try again in a moment.', {
      headers: { ...hangUp, 'retry-after': '5' },
    }),
  changed: () =>
    new GatewayRefusal(503, 'This container was changed just now. Try again.', { headers: { 'retry-after': '1' } }),
  /** @param cause what the connection to the app said; it reaches the log, never the client */
  appFailed: (cause: unknown) =>
    new GatewayRefusal(502, 'The app in this container does not answer properly. Try again in a moment.', {
      headers: hangUp,
      cause,
    }),
  bug: (cause: unknown) =>
    new GatewayRefusal(500, 'Something went wrong on our side. Try again in a moment.', { headers: hangUp, cause }),
} as const
