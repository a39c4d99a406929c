import type { Location } from '../gateway.ts'

/**
 * An expected "no" of the gateway. The API has its own; the gateway imports nothing of ours, so that it can be replaced
 * or run on its own.
 */
export class GatewayRefusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  /** @param message for the person who asked @param more `cause` is for the log only */
  constructor(status: number, message: string, more: { headers?: Record<string, string>; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.name = 'GatewayRefusal'
    this.status = status
    this.headers = more.headers ?? {}
  }
}

type Unavailable = Extract<Location, { unavailable: string }>['unavailable']

// After bad framing nobody knows where the next request on the connection begins, so the connection ends.
const hangUp = { connection: 'close' }
const methods = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

const whyUnavailable = {
  missing: 'This container does not exist yet, or was removed. Launch it from the dashboard.',
  stopped: 'This container is stopped. Start it from the dashboard; its files are still there.',
  unknown: 'The container engine does not answer at the moment. Try again in a minute.',
} satisfies Record<Unavailable, string>

/** Every "no" that the gateway says itself, by name. An app's own refusals pass through untouched. */
export const gatewayRefusals = {
  badTarget: (why: string) => new GatewayRefusal(400, `This address is not valid. ${why}`),
  badMessage: (why: string) => new GatewayRefusal(400, `This request is not valid. ${why}`, { headers: hangUp }),
  unknownCoding: () =>
    new GatewayRefusal(501, 'Of all transfer codings only "chunked" is understood here.', { headers: hangUp }),
  method: () => new GatewayRefusal(405, 'This method is not allowed here.', { headers: { allow: methods } }),

  noToken: () =>
    new GatewayRefusal(401, 'Sign in first: this container needs an access token.', {
      headers: { 'www-authenticate': 'Bearer' },
    }),
  nothingHere: () => new GatewayRefusal(404, 'There is no container at this address.'),
  callerBlocked: () => new GatewayRefusal(403, 'This account is blocked. Ask your administrator.'),
  notYours: () => new GatewayRefusal(403, 'This container belongs to somebody else.'),
  containerBlocked: () => new GatewayRefusal(403, 'This container is blocked. Ask your administrator.'),
  foreignOrigin: () => new GatewayRefusal(403, 'A WebSocket may be opened only by a page of this host.'),
  workerOnBarePrefix: () =>
    new GatewayRefusal(403, 'A service worker may not be registered at this address: it would reach other containers.'),

  unavailable: (why: Unavailable) =>
    new GatewayRefusal(503, whyUnavailable[why], { headers: { 'retry-after': why === 'unknown' ? '30' : '5' } }),
  shuttingDown: () =>
    new GatewayRefusal(503, 'Berth is restarting. Try again in a moment.', { headers: { 'retry-after': '5' } }),
  /** @param cause what the connection to the app said; it reaches the log, never the client */
  appFailed: (cause: unknown) =>
    new GatewayRefusal(
      502,
      'The app in this container does not answer properly. It may still be starting: try again in a moment.',
      { cause },
    ),
  bug: (cause: unknown) =>
    new GatewayRefusal(500, 'Something went wrong on our side. Try again in a moment.', { cause }),
} as const
