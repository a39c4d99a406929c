import { Refusal } from '#/errors.ts'
import type { Location } from '../gateway.ts'

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
  badTarget: (why: string) => new Refusal(400, `This address is not valid. ${why}`),
  badMessage: (why: string) => new Refusal(400, `This request is not valid. ${why}`, { headers: hangUp }),
  unknownCoding: () =>
    new Refusal(501, 'Of all transfer codings only "chunked" is understood here.', { headers: hangUp }),
  method: () => new Refusal(405, 'This method is not allowed here.', { headers: { allow: methods } }),

  noToken: () =>
    new Refusal(401, 'Sign in first: this container needs an access token.', {
      headers: { 'www-authenticate': 'Bearer' },
    }),
  nothingHere: () => new Refusal(404, 'There is no container at this address.'),
  callerBlocked: () => new Refusal(403, 'This account is blocked. Ask your administrator.'),
  notYours: () => new Refusal(403, 'This container belongs to somebody else.'),
  containerBlocked: () => new Refusal(403, 'This container is blocked. Ask your administrator.'),
  foreignOrigin: () => new Refusal(403, 'A WebSocket may be opened only by a page of this host.'),
  workerOnBarePrefix: () =>
    new Refusal(403, 'A service worker may not be registered at this address: it would reach other containers.'),

  unavailable: (why: Unavailable) =>
    new Refusal(503, whyUnavailable[why], { headers: { 'retry-after': why === 'unknown' ? '30' : '5' } }),
  shuttingDown: () =>
    new Refusal(503, 'Berth is restarting. Try again in a moment.', { headers: { 'retry-after': '5' } }),
  /** @param cause what the connection to the app said; it reaches the log, never the client */
  appFailed: (cause: unknown) =>
    new Refusal(
      502,
      'The app in this container does not answer properly. It may still be starting: try again in a moment.',
      { cause },
    ),
  bug: (cause: unknown) => new Refusal(500, 'Something went wrong on our side. Try again in a moment.', { cause }),
} as const
