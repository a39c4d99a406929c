import type { LaunchFailure } from '@berth/api/container.ts'
import { linksLeftHeaders } from '@berth/api/links-left.ts'

/**
 * The one vocabulary of refusals. A refusal is an expected "no" whose sentence is meant for the person who asked;
 * anything else that is thrown is a bug or a broken dependency, becomes a plain 500, and is logged once at the edge.
 */
export class Refusal extends Error {
  readonly status: number
  /** More keys of the body beside `error`, named as on the wire. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | string[]>>

  constructor(
    status: number,
    message: string,
    more: { extra?: Record<string, unknown>; headers?: Record<string, string | string[]>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.name = 'Refusal'
    this.status = status
    this.extra = more.extra ?? {}
    this.headers = more.headers ?? {}
  }
}

/** What the owner is told of a launch that failed. */
export interface FailedLaunch {
  readonly reason: LaunchFailure
  readonly sentence: string
  /** Of the program; null when none was started. */
  readonly exitCode: number | null
  readonly isOutOfMemory: boolean
  /** What the app wrote last. */
  readonly lastLines: readonly string[]
}

const notKnown: FailedLaunch = {
  reason: 'failed',
  sentence: 'The container could not be started. Try again, or ask your administrator.',
  exitCode: null,
  isOutOfMemory: false,
  lastLines: [],
}

/** Of a program that was never started nothing is said. */
function bodyOf({ reason, exitCode, isOutOfMemory, lastLines }: FailedLaunch) {
  if (exitCode === null && !isOutOfMemory) return { reason }
  return { reason, exit_code: exitCode, is_out_of_memory: isOutOfMemory, last_lines: lastLines }
}

/** An engine that does not answer is often back in seconds; everything else needs somebody to do something. */
const retryOf = ({ reason }: FailedLaunch): Record<string, string> =>
  reason === 'engine' ? { 'retry-after': '10' } : {}

const bearer = { 'www-authenticate': 'Bearer' }

/** Every refusal there is, by name. Statuses and conditions: specification, Errors. */
export const refusals = {
  missingBody: () => new Refusal(400, 'The request has no body. Send JSON such as {"email": "you@example.org"}.'),
  notJson: () => new Refusal(400, 'The body is not valid JSON.'),
  badRequest: (what: string) => new Refusal(400, what),
  missingEmail: () => new Refusal(400, 'The e-mail address is missing. Send it as {"email": "you@example.org"}.'),
  badEmail: () =>
    new Refusal(400, 'This is not an e-mail address we can send mail to. It should look like you@example.org.'),
  missingToken: () =>
    new Refusal(400, 'The link is incomplete: its token is missing. Open the whole link from the mail.'),
  badToken: () =>
    new Refusal(
      400,
      'This link is not valid: it was used already, has expired, or is of another kind. Ask for a new one.',
    ),
  prefetched: () => new Refusal(400, 'Links are not used up by a prefetch. Open the page and press its button.'),
  unknownType: (known: readonly string[]) =>
    new Refusal(400, `There is no such container type. Known types: ${known.join(', ')}.`),

  noToken: () => new Refusal(401, 'Sign in first: this needs an access token.', { headers: bearer }),
  invalidToken: () =>
    new Refusal(401, 'The access token is not valid any more. Sign in again.', {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    }),

  userBlocked: () => new Refusal(403, 'This account is blocked. Ask your administrator.'),
  notVerified: () =>
    new Refusal(403, 'This account is not verified yet. Use the signup link first, or ask for a new one.'),
  containerBlocked: (at: Date | null) =>
    new Refusal(403, 'This container is blocked. Ask your administrator.', {
      extra: { blocked_at: at?.toISOString() ?? null },
    }),
  userBlockedFromContainers: (at: Date | null) =>
    new Refusal(403, 'This account is blocked, so its containers cannot be started. Ask your administrator.', {
      extra: { blocked_at: at?.toISOString() ?? null },
    }),
  /** @param setCookie what makes the browser forget them */
  tossedTokens: (setCookie: string[]) =>
    new Refusal(401, 'The browser sent several access tokens, so none of them is believed. Sign in again.', {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"', 'set-cookie': setCookie },
    }),
  takenOver: () =>
    new Refusal(
      403,
      'In this session somebody acts for the owner of the account. It may not administer, nor end sessions.',
    ),
  notAdministrator: () => new Refusal(403, 'Only administrators may do this.'),
  forgeable: () =>
    new Refusal(
      403,
      'A browser may do this only from a page of Berth itself. Open Berth by its address; where that is plain http, sign in again.',
    ),

  userGone: () => new Refusal(404, 'The account of this token does not exist any more.'),
  notFound: (what: string) => new Refusal(404, `There is no such ${what}.`),
  wrongMethod: (allowed: readonly string[]) =>
    new Refusal(405, `This address answers ${allowed.join(' and ')} only.`, { headers: { allow: allowed.join(', ') } }),
  conflict: (what: string) => new Refusal(409, what),
  tooLarge: (limit: number) => new Refusal(413, `The body is too large: at most ${limit} bytes are accepted here.`),
  tooManyLinks: (perHour: number, retrySeconds: number) =>
    new Refusal(
      429,
      `Too many links were sent to this address: at most ${perHour} per hour. Use the newest one, or try again later.`,
      {
        headers: {
          'retry-after': String(retrySeconds),
          [linksLeftHeaders.left]: '0',
          [linksLeftHeaders.reset]: String(retrySeconds),
        },
      },
    ),

  tooManyRequests: (perMinute: number, retrySeconds: number) =>
    new Refusal(
      429,
      `Too many requests came from your network address: at most ${perMinute} a minute. Try again in a moment.`,
      { headers: { 'retry-after': String(Math.max(1, retrySeconds)) } },
    ),
  tooManyStreams: () =>
    new Refusal(429, 'Too many pages of yours listen to your containers already. Close some of them.', {
      headers: { 'retry-after': '30' },
    }),

  stopFailed: (cause: unknown) =>
    new Refusal(500, 'The container engine does not answer, or could not stop the container. Try again in a moment.', {
      cause,
    }),
  logsFailed: (cause: unknown) =>
    new Refusal(500, 'The container engine does not answer, so nothing can be read there now. Try again in a moment.', {
      cause,
    }),
  storeFailed: (cause: unknown) =>
    new Refusal(500, 'The database does not answer, or cannot be written at the moment. Try again in a minute.', {
      cause,
    }),
  mailFailed: (cause: unknown) =>
    new Refusal(500, 'The mail could not be sent. Nothing was changed; try again in a few minutes.', { cause }),
  launchFailed: (cause: unknown, why: FailedLaunch = notKnown) =>
    new Refusal(500, why.sentence, { extra: bodyOf(why), headers: retryOf(why), cause }),
  containerDeleted: () =>
    new Refusal(500, 'An administrator deleted this container while it was starting. Launch it again for a new one.'),
  restartFailed: (cause: unknown, why: FailedLaunch = notKnown) =>
    new Refusal(500, `${why.sentence} Your files are safe.`, { extra: bodyOf(why), headers: retryOf(why), cause }),
  launchGoesOn: (howFar: string) =>
    new Refusal(500, `${howFar} It goes on by itself, in its place; ask again in a moment.`, {
      headers: { 'retry-after': '5' },
    }),
  tooManyOfYours: (most: number) =>
    new Refusal(
      500,
      `You have ${most} containers running already, as many as you may. One of them has to stop first.`,
      {
        extra: { reason: 'full' },
        headers: { 'retry-after': '60' },
      },
    ),
  serverFull: () =>
    new Refusal(500, 'The server has no room for another container now. Nothing is lost; try again in a few minutes.', {
      extra: { reason: 'full' },
      headers: { 'retry-after': '60' },
    }),
  tooManyLaunches: () =>
    new Refusal(500, 'Too many containers are waiting to be started. Try again in a few minutes.', {
      extra: { reason: 'full' },
      headers: { 'retry-after': '120' },
    }),
  diskFull: (used: string, most: string, wayIn: string | undefined) =>
    new Refusal(
      500,
      `Your files take ${used} of the ${most} that they may, so this is not started. ${
        wayIn === undefined
          ? 'Delete some in a container that still runs, or ask your administrator for more room.'
          : `Delete some in ${wayIn}, which still starts, or ask your administrator for more room.`
      }`,
      { extra: { reason: 'full' } },
    ),
  endsAgain: () =>
    new Refusal(500, 'Its program ended after each of its last starts. Launch it by hand to try once more.', {
      extra: { reason: 'crashed' },
    }),
  auditTooLong: (seconds: number) =>
    new Refusal(
      503,
      `The audit log could not be verified within ${seconds} seconds. Run "berth audit verify" on the server: it takes its time.`,
    ),
  stopping: () =>
    new Refusal(500, 'Berth is being stopped, so nothing is started now. Nothing is lost; try again in a minute.', {
      headers: { 'retry-after': '30' },
    }),
} as const
