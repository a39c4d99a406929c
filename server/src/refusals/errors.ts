import type { Scope } from '@berth/api/scopes.ts'
import type { LaunchFailure } from '@berth/api/schemas/container.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import { linksLeftHeaders } from '@berth/api/links-left.ts'

/**
 * Refusal: an expected "no" with a sentence for the caller. Any other error is a bug or a broken dependency, becomes a
 * plain 500, and is logged once by the error handler.
 */
export class Refusal extends Error {
  readonly status: number
  /** Localized by the error handler. `message` is the same in English, for logs. */
  readonly sentence: LocalizedMessage
  /** Further keys of the body beside `error`, named as in the API. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | string[]>>
  /**
   * Its name in `refusals`, for programs and pages: sentences are in the caller's language. Undefined for refusals of
   * the framework.
   */
  code: string | undefined

  constructor(
    status: number,
    sentence: LocalizedMessage,
    more: { extra?: Record<string, unknown>; headers?: Record<string, string | string[]>; cause?: unknown } = {},
  ) {
    const localized = localize(defaultLanguage, sentence)
    // The stack of an expected "no" is never read, and collecting it takes longer than the rest.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(localized, { cause: more.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'Refusal'
    this.status = status
    this.sentence = sentence
    this.extra = more.extra ?? {}
    this.headers = more.headers ?? {}
  }
}

/** Facts about a failed launch for its owner. */
export interface FailedLaunch {
  readonly reason: LaunchFailure
  readonly sentence: LocalizedMessage
  /** Exit code of the program; null when none was started. */
  readonly exitCode: number | null
  readonly isOutOfMemory: boolean
  /** Last output of the app. */
  readonly lastLines: readonly string[]
}

const notKnown: FailedLaunch = {
  reason: 'failed',
  sentence: message('launches.failed'),
  exitCode: null,
  isOutOfMemory: false,
  lastLines: [],
}

/** Without a started program there are no facts about one. */
function bodyOf({ reason, exitCode, isOutOfMemory, lastLines }: FailedLaunch) {
  if (exitCode === null && !isOutOfMemory) return { reason }
  return { reason, exit_code: exitCode, is_out_of_memory: isOutOfMemory, last_lines: lastLines }
}

/** At least a second: 0 would ask for a request at once. */
const retryAfter = (seconds: number) => ({ 'retry-after': String(Math.max(1, seconds)) })

/** An engine that does not answer is often back in seconds; any other cause needs an action of a person. */
const retryOf = ({ reason }: FailedLaunch): Record<string, string> => (reason === 'engine' ? retryAfter(10) : {})

const bearer = { 'www-authenticate': 'Bearer' }

/** Sets the name of each refusal. */
function named<T extends Readonly<Record<string, (...args: never[]) => Refusal>>>(vocabulary: T): T {
  const rows = Object.entries(vocabulary).map(([code, make]) => [
    code,
    (...args: never[]) => Object.assign(make(...args), { code }),
  ])
  return Object.fromEntries(rows) as T
}

/** Every refusal, by name. Statuses and conditions: specification, Errors. */
export const refusals = named({
  missingBody: () => new Refusal(400, message('refusals.missingBody')),
  notJson: () => new Refusal(400, message('refusals.notJson')),
  badRequest: (what: LocalizedMessage) => new Refusal(400, what),
  missingEmail: () => new Refusal(400, message('refusals.missingEmail')),
  badEmail: () => new Refusal(400, message('refusals.badEmail')),
  missingToken: () => new Refusal(400, message('refusals.missingToken')),
  // One sentence for all four causes, as the specification requires; the name tells them apart. Only the token's owner
  // asks.
  badToken: () => new Refusal(400, message('refusals.badToken')),
  usedToken: () => new Refusal(400, message('refusals.badToken')),
  expiredToken: () => new Refusal(400, message('refusals.badToken')),
  otherToken: () => new Refusal(400, message('refusals.badToken')),
  badLogoutToken: () => new Refusal(400, message('refusals.badLogoutToken')),
  prefetched: () => new Refusal(400, message('refusals.prefetched')),
  badParameter: (problem: LocalizedMessage) => new Refusal(400, problem),
  unknownType: (known: readonly string[]) =>
    new Refusal(400, message('refusals.unknownType', { types: list('comma', known) })),

  noToken: () => new Refusal(401, message('refusals.noToken'), { headers: bearer }),
  invalidToken: () =>
    new Refusal(401, message('refusals.invalidToken'), {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
    }),

  noSession: () => new Refusal(401, message('refusals.noSession'), { headers: bearer }),
  sessionExpired: () => new Refusal(401, message('refusals.sessionExpired'), { headers: bearer }),
  sessionEnded: () => new Refusal(401, message('refusals.sessionEnded'), { headers: bearer }),
  sessionReplayed: () => new Refusal(401, message('refusals.sessionReplayed'), { headers: bearer }),
  sessionBlocked: () => new Refusal(401, message('refusals.sessionBlocked'), { headers: bearer }),
  takeoverNotRenewed: () => new Refusal(401, message('refusals.takeoverNotRenewed'), { headers: bearer }),

  userBlocked: () => new Refusal(403, message('refusals.userBlocked')),
  notVerified: () => new Refusal(403, message('refusals.notVerified')),
  containerBlocked: (at: Date | null) =>
    new Refusal(403, message('refusals.containerBlocked'), {
      extra: { blocked_at: at?.toISOString() ?? null },
    }),
  userBlockedFromContainers: (at: Date | null) =>
    new Refusal(403, message('refusals.userBlockedFromContainers'), {
      extra: { blocked_at: at?.toISOString() ?? null },
    }),
  metricsClosed: () => new Refusal(403, message('refusals.metricsClosed')),
  /** @param setCookie lines that remove the tossed cookies from the browser */
  tossedTokens: (setCookie: string[]) =>
    new Refusal(401, message('refusals.tossedTokens'), {
      headers: { 'www-authenticate': 'Bearer error="invalid_token"', 'set-cookie': setCookie },
    }),
  noSignInByLink: () => new Refusal(403, message('refusals.noSignInByLink')),
  takenOver: () => new Refusal(403, message('refusals.takenOver')),
  notAdministrator: () => new Refusal(403, message('refusals.notAdministrator')),
  /** RFC 6750, 3.1. */
  missingScope: (scope: Scope) =>
    new Refusal(403, message('refusals.missingScope', { scope }), {
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    }),
  notForApiTokens: () =>
    new Refusal(403, message('refusals.notForApiTokens'), {
      headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
    }),
  adminScope: () => new Refusal(403, message('refusals.adminScope')),
  forgeable: () => new Refusal(403, message('refusals.forgeable')),
  noNavigation: () => new Refusal(403, message('refusals.noNavigation')),

  notGroupManager: () => new Refusal(403, message('groups.notManager')),
  typeOfGroups: () => new Refusal(403, message('groups.typeOfGroups')),
  sharingOff: () => new Refusal(403, message('sharing.off')),
  lookByManagers: () => new Refusal(403, message('sharing.lookByManagers')),
  groupExpired: (group: string) => new Refusal(403, message('groups.expired', { group })),

  userGone: () => new Refusal(404, message('refusals.userGone')),
  notFound: (
    what:
      | 'user'
      | 'container'
      | 'session'
      | 'token'
      | 'address'
      | 'provider'
      | 'share'
      | 'lookRequest'
      | 'snapshot'
      | 'path',
  ) => new Refusal(404, message(`refusals.${what}NotFound`)),
  groupNotFound: (what: 'group' | 'member' | 'joinCode' | 'failure' | 'invitation') =>
    new Refusal(404, message(`groups.${what}NotFound`)),
  wrongMethod: (allowed: readonly string[]) =>
    new Refusal(405, message('refusals.wrongMethod', { methods: list('and', allowed) }), {
      headers: { allow: allowed.join(', ') },
    }),
  /** Answer to the holder of a mailed link. */
  archiveNotFound: () => new Refusal(404, message('termEnd.archiveNotFound')),
  conflict: (what: LocalizedMessage) => new Refusal(409, what),
  /** @param what why it is not taken */
  badArchive: (what: LocalizedMessage) => new Refusal(400, what),
  snapshotsOff: () => new Refusal(409, message('snapshots.off')),
  /** @param limit its name in the API */
  groupLimit: (limit: 'running' | 'memory' | 'cpus' | 'disk', group: string, sentence: LocalizedMessage) =>
    new Refusal(409, sentence, { extra: { reason: 'full', limit, group } }),
  tooLarge: (limit: number) => new Refusal(413, message('refusals.tooLarge', { limit })),
  tooManyLinks: (perHour: number, retrySeconds: number) =>
    new Refusal(429, message('refusals.tooManyLinks', { perHour }), {
      headers: {
        'retry-after': String(retrySeconds),
        [linksLeftHeaders.left]: '0',
        [linksLeftHeaders.reset]: String(retrySeconds),
      },
    }),

  tooManyRequests: (perMinute: number, retrySeconds: number) =>
    new Refusal(429, message('refusals.tooManyRequests', { perMinute }), { headers: retryAfter(retrySeconds) }),
  tooManyForMailbox: (perMinute: number, retrySeconds: number) =>
    new Refusal(429, message('refusals.tooManyForMailbox', { perMinute }), { headers: retryAfter(retrySeconds) }),
  tooManyJoinCodes: (max: number, retrySeconds: number) =>
    new Refusal(429, message('groups.tooManyCodes', { max }), { headers: retryAfter(retrySeconds) }),
  tooManyOwnChanges: (perHour: number, retrySeconds: number) =>
    new Refusal(429, message('refusals.tooManyOwnChanges', { perHour }), { headers: retryAfter(retrySeconds) }),
  tooManyInvitations: (max: number, retrySeconds: number) =>
    new Refusal(429, message('groups.tooManyInvitations', { max }), { headers: retryAfter(retrySeconds) }),
  tooManyLookRequests: (minutes: number, retrySeconds: number) =>
    new Refusal(429, message('sharing.askedTooOften', { minutes }), { headers: retryAfter(retrySeconds) }),
  tooManyStreams: () => new Refusal(429, message('refusals.tooManyStreams'), { headers: retryAfter(30) }),
  /** @param max parallel requests of one user */
  tooManyAtOnce: (max: number) =>
    new Refusal(429, message('refusals.tooManyAtOnce', { max }), { headers: retryAfter(1) }),

  tooManyDownloads: (max: number) => new Refusal(429, message('termEnd.tooManyDownloads', { max })),
  tooManyTransfers: () => new Refusal(429, message('snapshots.tooManyDownloads'), { headers: retryAfter(60) }),
  snapshotsBusy: () => new Refusal(429, message('snapshots.tooMany'), { headers: retryAfter(60) }),

  stopFailed: (cause: unknown) =>
    new Refusal(500, message('refusals.stopFailed'), {
      cause,
    }),
  keepFailed: (cause: unknown) => new Refusal(500, message('refusals.keepFailed'), { cause }),
  logsFailed: (cause: unknown) =>
    new Refusal(500, message('refusals.logsFailed'), {
      cause,
    }),
  snapshotFailed: (cause: unknown) => new Refusal(500, message('snapshots.failed'), { cause }),
  homesUnknown: (cause: unknown) => new Refusal(500, message('termEnd.engineSilent'), { cause }),
  snapshotDiskFull: (cause: unknown) => new Refusal(500, message('snapshots.diskFull'), { cause }),
  restoreUnfinished: (cause: unknown) => new Refusal(500, message('snapshots.unfinished'), { cause }),
  resetUnfinished: (cause: unknown) => new Refusal(500, message('snapshots.resetUnfinished'), { cause }),
  storeFailed: (cause: unknown) =>
    new Refusal(500, message('refusals.storeFailed'), {
      cause,
    }),
  invitationNotMailed: () => new Refusal(500, message('groups.invitationNotMailed')),
  mailFailed: (cause: unknown) => new Refusal(500, message('refusals.mailFailed'), { cause }),
  launchFailed: (cause: unknown, why: FailedLaunch = notKnown) =>
    new Refusal(500, why.sentence, { extra: bodyOf(why), headers: retryOf(why), cause }),
  containerDeleted: () => new Refusal(500, message('refusals.containerDeleted')),
  launchStopped: () =>
    new Refusal(500, message('refusals.launchStopped'), {
      extra: { reason: 'stopped' },
    }),
  restartFailed: (cause: unknown, why: FailedLaunch = notKnown) =>
    new Refusal(500, message('refusals.restartFailed', { why: why.sentence }), {
      extra: bodyOf(why),
      headers: retryOf(why),
      cause,
    }),
  launchGoesOn: (howFar: LocalizedMessage) =>
    new Refusal(500, message('refusals.launchGoesOn', { howFar }), { headers: retryAfter(5) }),
  tooManyOfYours: (max: number) =>
    new Refusal(500, message('refusals.tooManyOfYours', { max }), {
      extra: { reason: 'full' },
      headers: retryAfter(60),
    }),
  serverFull: () =>
    new Refusal(500, message('refusals.serverFull'), {
      extra: { reason: 'full' },
      headers: retryAfter(60),
    }),
  tooManyLaunches: () =>
    new Refusal(500, message('refusals.tooManyLaunches'), {
      extra: { reason: 'full' },
      headers: retryAfter(120),
    }),
  /** @param wayIn name of the container in which its owner can still delete files */
  diskFull: (used: LocalizedMessage, max: LocalizedMessage, wayIn: string | undefined) =>
    new Refusal(
      500,
      wayIn === undefined
        ? message('refusals.diskFull', { used, max })
        : message('refusals.diskFullBut', { used, max, name: wayIn }),
      { extra: { reason: 'full' } },
    ),
  homeUnmeasured: (wayIn: string) =>
    new Refusal(500, message('refusals.homeUnmeasured', { name: wayIn }), { extra: { reason: 'full' } }),
  endsAgain: () =>
    new Refusal(500, message('refusals.endsAgain'), {
      extra: { reason: 'crashed' },
    }),
  streamsFull: () => new Refusal(503, message('refusals.streamsFull'), { headers: retryAfter(30) }),
  tooManySignIns: (cause: unknown) =>
    new Refusal(503, message('refusals.tooManySignIns'), {
      headers: retryAfter(10),
      cause,
    }),
  tooManyChanges: () => new Refusal(503, message('refusals.tooManyChanges'), { headers: retryAfter(5) }),
  auditTooLong: (seconds: number) => new Refusal(503, message('refusals.auditTooLong', { seconds })),
  stopping: () => new Refusal(500, message('refusals.stopping'), { headers: retryAfter(30) }),
} as const)
