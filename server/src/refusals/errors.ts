import type { Scope } from '@berth/api/scopes.ts'
import type { LaunchFailure } from '@berth/api/schemas/container.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { formatBytes, list, LocalizedMessage, message, type MessageKey } from '@berth/texts/localized-message.ts'
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
   * Its name in `refusalRows`, for programs and pages: sentences are in the caller's language. Undefined for refusals of
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

/** What an operator or programmer reads about a refusal: a row of docs/reference/errors.md. Markdown. */
interface Facts {
  readonly status: number
  /** When it is answered. */
  readonly when: string
  /** What its reader does about it. */
  readonly remedy: string
}

interface Answer {
  /** Left out: the message `refusals.{name}`. */
  readonly sentence?: LocalizedMessage
  readonly extra?: Record<string, unknown>
  readonly headers?: Record<string, string | string[]>
  readonly cause?: unknown
}

/** A refusal whose answer depends on arguments. */
interface Row<Args extends readonly unknown[]> extends Facts {
  /** Arguments with which tests look at it. */
  readonly sample: Readonly<Args>
  readonly answer: (...args: Args) => Answer
}

const refusal = <Args extends readonly unknown[]>(row: Row<Args>): Row<Args> => row

/** A refusal whose answer is always the same. */
const fixed = (status: number, when: string, remedy: string, answer: Answer = {}): Row<[]> => ({
  status,
  when,
  remedy,
  sample: [],
  answer: () => answer,
})

/** A refusal because of the error of a dependency, which the log has. */
const caused = (status: number, when: string, remedy: string, answer: Answer = {}): Row<[cause: unknown]> => ({
  status,
  when,
  remedy,
  sample: [anError],
  answer: (cause) => ({ ...answer, cause }),
})

/** Stands for the error of a dependency. */
const anError = new Error('the cause')

/** Remedy for what the engine refused or did not answer. */
const repeat = 'try again; operators check the engine'

/** Every refusal by its name, for programs and pages: one row each. Statuses and conditions: specification, Errors. */
export const refusalRows = {
  missingBody: fixed(400, 'an endpoint that needs a body got none', 'send JSON'),
  notJson: fixed(400, 'the body is not valid JSON', 'correct the body'),
  badRequest: refusal({
    status: 400,
    when: 'a value has the wrong type or format; the message names it',
    remedy: 'correct the value',
    sample: [message('requests.badLimit', { max: 1000 })],
    answer: (what: LocalizedMessage) => ({ sentence: what }),
  }),
  missingEmail: fixed(400, 'the e-mail address is missing or empty', 'enter the address'),
  badEmail: fixed(400, 'sign-up with text that is not a deliverable e-mail address', 'correct the address'),
  missingToken: fixed(400, 'a verify endpoint was called without its token', 'open the complete link'),
  // One sentence for all four causes, as the specification requires; the name tells them apart. Only the token's owner
  // asks.
  badToken: fixed(
    400,
    'the link is unknown, was deleted after it expired, or was not mailed and its account is verified by now',
    'request a new link',
  ),
  usedToken: fixed(400, 'the link was used before; same message as `badToken`', 'request a new link', {
    sentence: message('refusals.badToken'),
  }),
  expiredToken: fixed(400, 'the link has expired; same message as `badToken`', 'request a new link', {
    sentence: message('refusals.badToken'),
  }),
  otherToken: fixed(
    400,
    'a signup link at the login endpoint or the reverse; same message as `badToken`',
    'open the link as it is in the mail',
    { sentence: message('refusals.badToken') },
  ),
  badLogoutToken: fixed(
    400,
    'back-channel logout with a token that is not valid, or was used before; the log says why',
    'correct issuer, client or keys at the provider',
  ),
  prefetched: fixed(400, 'a browser or mail scanner prefetched the link', 'open the page and press its button'),
  badParameter: refusal({
    status: 400,
    when: 'a launch with a parameter that the template does not have, or with a value that it does not allow',
    remedy: 'send a value that `GET /api/user/containers` names',
    sample: [message('refusals.parameterBoolean', { name: 'gpu' })],
    answer: (problem: LocalizedMessage) => ({ sentence: problem }),
  }),
  unknownType: refusal({
    status: 400,
    when: 'the container type is not configured',
    remedy: 'use one of the types that the message names',
    sample: [['dev', 'prod']],
    answer: (known: readonly string[]) => ({
      sentence: message('refusals.unknownType', { types: list('comma', known) }),
    }),
  }),

  noToken: fixed(401, 'the request has no access token', 'sign in', { headers: bearer }),
  invalidToken: fixed(401, 'the access token has expired, was revoked, or was not issued by this Berth', 'sign in', {
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  }),

  noSession: fixed(401, 'a session was to be renewed without the cookie of one that began in this browser', 'sign in', {
    headers: bearer,
  }),
  sessionExpired: fixed(
    401,
    'the session was not used for `SESSION_IDLE` seconds, or began `SESSION_MAX` seconds ago',
    'sign in',
    { headers: bearer },
  ),
  sessionEnded: fixed(
    401,
    'the session was ended: by sign-out, in the list of sessions, or by the provider that began it',
    'sign in',
    { headers: bearer },
  ),
  sessionReplayed: fixed(
    401,
    'an old copy of the cookie of the session was sent, so another person may have it; the session was ended',
    'sign in; if it happens again, remove software that copies browser profiles',
    { headers: bearer },
  ),
  sessionBlocked: fixed(
    401,
    'the session ended because the account was blocked',
    'sign in again once the block is removed',
    { headers: bearer },
  ),
  takeoverNotRenewed: fixed(401, 'a session was to be renewed during a takeover', 'end the takeover', {
    headers: bearer,
  }),

  userBlocked: fixed(403, 'the account is blocked', 'ask the administrator'),
  notVerified: fixed(403, 'login with an account that was never verified', 'use the signup link, or request a new one'),
  containerBlocked: refusal({
    status: 403,
    when: 'the container is blocked; `blocked_at` is the time of the block',
    remedy: 'ask the administrator',
    sample: [new Date('2026-01-02T03:04:05Z')],
    answer: (at: Date | null) => ({
      sentence: message('refusals.containerBlocked'),
      extra: { blocked_at: at?.toISOString() ?? null },
    }),
  }),
  userBlockedFromContainers: refusal({
    status: 403,
    when: 'launch or restart with a blocked account',
    remedy: 'ask the administrator',
    sample: [null],
    answer: (at: Date | null) => ({
      sentence: message('refusals.userBlockedFromContainers'),
      extra: { blocked_at: at?.toISOString() ?? null },
    }),
  }),
  metricsClosed: fixed(
    403,
    '`/metrics` without the bearer token `METRICS_TOKEN`; if none is set, from another machine or through a proxy',
    'send the token; see [monitoring](../how-to/monitor.md#metrics)',
  ),
  /** @param setCookie lines that remove the tossed cookies from the browser */
  tossedTokens: refusal({
    status: 401,
    when: 'the browser sent several valid tokens as cookies, so a page of a container added one; all are removed from the browser',
    remedy: 'sign in',
    sample: [['a=; Max-Age=0']],
    answer: (setCookie: string[]) => ({
      sentence: message('refusals.tossedTokens'),
      headers: { 'www-authenticate': 'Bearer error="invalid_token"', 'set-cookie': setCookie },
    }),
  }),
  noSignInByLink: fixed(
    403,
    'a request for a link while `SIGN_IN` is `oidc`; resend-verification answers 200 then, and mails nothing',
    'sign in with a provider',
  ),
  takenOver: fixed(
    403,
    'during a takeover, an action that only the user may perform',
    'end the takeover; administer with your own account',
  ),
  notAdministrator: fixed(403, 'an endpoint for administrators, called by another user', 'none'),
  /** RFC 6750, 3.1. */
  missingScope: refusal({
    status: 403,
    when: 'the API token lacks the scope that the endpoint asks for; the message and `WWW-Authenticate` name it',
    remedy: 'make a token with this scope',
    sample: ['containers:write'],
    answer: (scope: Scope) => ({
      sentence: message('refusals.missingScope', { scope }),
      headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    }),
  }),
  notForApiTokens: fixed(
    403,
    'an API token at an endpoint without a scope, such as sessions, takeover and API tokens themselves',
    'sign in with a browser',
    { headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' } },
  ),
  adminScope: fixed(403, 'a user who is no administrator asks for an API token with `admin:`', 'leave the scope out'),
  forgeable: fixed(
    403,
    "a browser authenticated by cookie without the CSRF token of one of Berth's own pages",
    'open Berth by its address; on plain http sign in again; programs send the token as a header',
  ),
  noNavigation: fixed(
    403,
    'a browser asked for `/api/auth/continue` or `/api/auth/enter` otherwise than by opening a page',
    'open the page; to renew a session from a script use `POST /api/auth/refresh`',
  ),

  notGroupManager: fixed(
    403,
    'members, containers or the join code of a group, for a user who is no manager of it',
    'ask a manager of the group, or an administrator',
    { sentence: message('groups.notManager') },
  ),
  environmentOfOthers: refusal({
    status: 403,
    when: 'an environment, for a user who is neither an administrator nor, where `ENVIRONMENTS` says `managers`, a manager of its group; or a type that others launch, too',
    remedy: 'ask an administrator',
    sample: [message('environments.notManager')],
    answer: (what: LocalizedMessage) => ({ sentence: what }),
  }),
  typeOfGroups: fixed(
    403,
    'launch of a type whose template names `groups`, by a user who is in none of them',
    'join one of the groups',
    { sentence: message('groups.typeOfGroups') },
  ),
  sharingOff: fixed(
    403,
    'a container was to be shared, and the setting `SHARING` does not allow it with such visitors',
    'ask the operator',
    { sentence: message('sharing.off') },
  ),
  lookByManagers: fixed(
    403,
    'an administrator who does not manage the group asks a member to look at a container',
    'a manager of the group asks; administrators can become one, which the audit log has',
    { sentence: message('sharing.lookByManagers') },
  ),
  groupExpired: refusal({
    status: 403,
    when: 'launch of a type of a group that has expired',
    remedy: 'administrators change `expires_at`, or remove the user from the group',
    sample: ['Physics 7b'],
    answer: (group: string) => ({ sentence: message('groups.expired', { group }) }),
  }),

  userGone: fixed(404, 'the account of the token was deleted', 'sign up'),
  notFound: refusal({
    status: 404,
    when: 'the user, container, session, API token, SSH key, share, request to look, snapshot, path in a snapshot, or address does not exist',
    remedy: 'look it up in the list',
    sample: ['user'],
    answer: (
      what:
        | 'user'
        | 'container'
        | 'session'
        | 'token'
        | 'address'
        | 'provider'
        | 'share'
        | 'sshKey'
        | 'sshServer'
        | 'lookRequest'
        | 'home'
        | 'snapshot'
        | 'path',
    ) => ({ sentence: message(`refusals.${what}NotFound`) }),
  }),
  groupNotFound: refusal({
    status: 404,
    when: 'no such group, no such member of it, or a join code that no group has',
    remedy: 'check the id, or the spelling of the code',
    sample: ['joinCode'],
    answer: (what: 'group' | 'member' | 'joinCode' | 'failure' | 'invitation' | 'folder') => ({
      sentence: message(`groups.${what}NotFound`),
    }),
  }),
  environmentNotFound: refusal({
    status: 404,
    when: 'no such environment, no such version of it, or `ENVIRONMENTS` is off',
    remedy: 'check the name',
    sample: ['environment'],
    answer: (what: 'environment' | 'version' | 'off') => ({
      sentence: message(
        what === 'off'
          ? 'environments.off'
          : what === 'version'
            ? 'environments.versionNotFound'
            : 'environments.notFound',
      ),
    }),
  }),
  wrongMethod: refusal({
    status: 405,
    when: 'the address exists with another method (`Allow`)',
    remedy: 'use that method',
    sample: [['GET', 'POST']],
    answer: (allowed: readonly string[]) => ({
      sentence: message('refusals.wrongMethod', { methods: list('and', allowed) }),
      headers: { allow: allowed.join(', ') },
    }),
  }),
  /** Answer to the holder of a mailed link. */
  archiveNotFound: fixed(
    404,
    'a mailed link to archives of homes that is wrong or over, or an archive that is deleted; a download that was begun more than a minute ago, or twice',
    'open the link of the newest mail again; archives are kept until the date in it',
    { sentence: message('termEnd.archiveNotFound') },
  ),
  conflict: refusal({
    status: 409,
    when: 'the change would leave no active administrator, concerns oneself, or there is no takeover to end',
    remedy: 'ask another administrator',
    sample: [message('requests.lastInCharge')],
    answer: (what: LocalizedMessage) => ({ sentence: what }),
  }),
  environmentNotPublished: refusal({
    status: 409,
    when: 'launch of a type whose environment has no published version',
    remedy: 'publish a version of the environment',
    sample: ['notebook'],
    answer: (name: string) => ({ sentence: message('environments.notPublished', { name }) }),
  }),
  /** @param what why it is not taken */
  badArchive: refusal({
    status: 400,
    when: 'an archive for a home is not complete, not tar, or has entries that lead out of its top, sparse files, or too many entries',
    remedy: 'make it anew as the message says; nothing of it was unpacked',
    sample: [message('snapshots.badArchive')],
    answer: (what: LocalizedMessage) => ({ sentence: what }),
  }),
  snapshotsOff: fixed(409, 'a snapshot of a home was asked for while `SNAPSHOTS` is off', 'ask the operator', {
    sentence: message('snapshots.off'),
  }),
  /** @param limit its name in the API */
  groupLimit: refusal({
    status: 409,
    when: 'a launch for which a limit of a group leaves no room; the body has `limit` and `group`',
    remedy: 'stop another container, or delete files; administrators raise the limit',
    sample: ['running', 'Physics 7b', message('groups.tooManyRunning', { group: 'Physics 7b', max: 2 })],
    answer: (limit: 'running' | 'memory' | 'cpus' | 'gpus' | 'disk', group: string, sentence: LocalizedMessage) => ({
      sentence: sentence,
      extra: { reason: 'full', limit, group },
    }),
  }),
  tooLarge: refusal({
    status: 413,
    when: 'the body is larger than 64 KiB',
    remedy: 'send less',
    sample: [65_536],
    answer: (limit: number) => ({ sentence: message('refusals.tooLarge', { limit }) }),
  }),
  tooManyLinks: refusal({
    status: 429,
    when: 'too many links in an hour for one address (`MAGIC_LINK_RATE_LIMIT`) or one mailbox (`MAILBOX_RATE_LIMIT`); `Retry-After`, `Links-Left: 0`',
    remedy: 'use the newest mail, or wait',
    sample: [3, 60],
    answer: (perHour: number, retrySeconds: number) => ({
      sentence: message('refusals.tooManyLinks', { perHour }),
      headers: {
        'retry-after': String(retrySeconds),
        [linksLeftHeaders.left]: '0',
        [linksLeftHeaders.reset]: String(retrySeconds),
      },
    }),
  }),

  tooManyRequests: refusal({
    status: 429,
    when: 'more than `REQUESTS_PER_MINUTE` requests without a token from one network address that led to no sign-in (`Retry-After`)',
    remedy: 'try again in a minute; operators who see it for all users set `TRUSTED_PROXIES`',
    sample: [60, 60],
    answer: (perMinute: number, retrySeconds: number) => ({
      sentence: message('refusals.tooManyRequests', { perMinute }),
      headers: retryAfter(retrySeconds),
    }),
  }),
  tooManyForMailbox: refusal({
    status: 429,
    when: 'one network address sent more than ten requests a minute for one mailbox (a sixtieth of `REQUESTS_PER_MINUTE`, at least five; `Retry-After`)',
    remedy: 'use the newest mail; try again in a minute',
    sample: [10, 60],
    answer: (perMinute: number, retrySeconds: number) => ({
      sentence: message('refusals.tooManyForMailbox', { perMinute }),
      headers: retryAfter(retrySeconds),
    }),
  }),
  tooManyJoinCodes: refusal({
    status: 429,
    when: 'more than ten wrong join codes of one user within a minute',
    remedy: 'wait, and check the code',
    sample: [10, 60],
    answer: (max: number, retrySeconds: number) => ({
      sentence: message('groups.tooManyCodes', { max }),
      headers: retryAfter(retrySeconds),
    }),
  }),
  tooManyOwnChanges: refusal({
    status: 429,
    when: 'more than 600 shares, API tokens, SSH keys, sessions of SSH, or transfers and resets of homes of one account, of which 300 an hour are forgotten; the audit log keeps each (`Retry-After`)',
    remedy: 'wait, and share with a group instead of many people; nothing that ends access is counted',
    sample: [300, 60],
    answer: (perHour: number, retrySeconds: number) => ({
      sentence: message('refusals.tooManyOwnChanges', { perHour }),
      headers: retryAfter(retrySeconds),
    }),
  }),
  tooManyInvitations: refusal({
    status: 429,
    when: 'a manager who is no administrator would have more than 500 invitations mailed within an hour; nothing of the list is done (`Retry-After`)',
    remedy: 'invite the rest later, ask an administrator, or give out a join code',
    sample: [500, 60],
    answer: (max: number, retrySeconds: number) => ({
      sentence: message('groups.tooManyInvitations', { max }),
      headers: retryAfter(retrySeconds),
    }),
  }),
  tooManyLookRequests: refusal({
    status: 429,
    when: 'a manager asks a member to look within 30 minutes after the member has declined, more than three times an hour, or while five requests to the member are open (`Retry-After`)',
    remedy: 'talk to the member, or wait',
    sample: [30, 1_800],
    answer: (minutes: number, retrySeconds: number) => ({
      sentence: message('sharing.askedTooOften', { minutes }),
      headers: retryAfter(retrySeconds),
    }),
  }),
  tooManyStreams: fixed(
    429,
    'more than 20 open event streams, 5 log streams or 5 pages of groups of one user (`Retry-After`)',
    'close some pages',
    { headers: retryAfter(30) },
  ),
  /** @param max parallel requests of one user */
  tooManyAtOnce: refusal({
    status: 429,
    when: 'one user has 100 requests in progress (`Retry-After`)',
    remedy: 'wait for the answers; scripts send fewer requests in parallel',
    sample: [100],
    answer: (max: number) => ({ sentence: message('refusals.tooManyAtOnce', { max }), headers: retryAfter(1) }),
  }),

  tooManyDownloads: refusal({
    status: 429,
    when: 'archives of homes were downloaded 50 times by the mailed links of one person',
    remedy: 'ask the operator for the file',
    sample: [50],
    answer: (max: number) => ({ sentence: message('termEnd.tooManyDownloads', { max }) }),
  }),
  tooManyTransfers: fixed(
    429,
    'one user has three downloads of snapshots, or all users have fifty',
    'wait until one is done',
    { sentence: message('snapshots.tooManyDownloads'), headers: retryAfter(60) },
  ),
  snapshotsBusy: fixed(
    429,
    'too many homes wait to be read or written (a launch waits 15 minutes for the snapshot before another image), three restores of this home are under way, other work on it came first, or too many archives are sent',
    'try again after `Retry-After` seconds',
    { sentence: message('snapshots.tooMany'), headers: retryAfter(60) },
  ),

  stopFailed: caused(500, 'the engine does not respond, or could not stop the container', repeat),
  linkHost: fixed(
    400,
    'a link names a Git repository of a host that `OPEN_GIT_HOSTS` does not name',
    'ask the operator to allow the host',
  ),
  badLink: fixed(
    400,
    'a link names no http or https address of a Git repository, no branch, tag or commit, or a folder out of the home',
    'correct the link',
  ),
  noHomeForFiles: fixed(
    409,
    'files of a link are to be put into a container that was not launched yet, has no home, or whose engine cannot pause it meanwhile',
    'launch the container first',
  ),
  filesFailed: caused(
    500,
    'the files of a link could not be fetched, or could not be put into the home',
    'try again; the log says why',
  ),
  keepFailed: caused(500, 'the engine does not respond about the container to keep running', repeat),
  portsOfStopped: fixed(
    409,
    'the ports of a container that does not run, or is paused',
    'open or launch the container first',
  ),
  portsUnknown: caused(
    500,
    'the engine does not tell what listens in a container, e.g. because an older version of Berth created it',
    'try again; restart a container that is older than the last update',
  ),
  logsFailed: caused(500, 'the engine does not respond, so the log cannot be read', repeat),
  snapshotFailed: caused(
    500,
    'a home could not be read or written, e.g. because its disk is full; of what was to be restored nothing is there',
    'try again; the log says why',
    { sentence: message('snapshots.failed') },
  ),
  homeOwnerFailed: caused(
    500,
    'files of a home could not be given to another account, e.g. because its file server has `root_squash`',
    'the log says which; call it again, which completes what is left',
    { sentence: message('snapshots.ownerFailed') },
  ),
  homesUnknown: caused(500, 'an end of term was previewed or begun, and the engine does not tell its homes', repeat, {
    sentence: message('termEnd.engineSilent'),
  }),
  snapshotDiskFull: caused(
    500,
    'the disk of `DATA_DIR` is nearly full: snapshots and uploads leave a twentieth of it, at most 1 GiB, free',
    'operators make room, or move `DATA_DIR` to a larger disk',
    { sentence: message('snapshots.diskFull') },
  ),
  restoreUnfinished: caused(
    500,
    'a restore failed, and the engine did not remove what was there of it',
    'leave the container stopped: Berth completes the folder within a minute after the engine answers',
    { sentence: message('snapshots.unfinished') },
  ),
  resetUnfinished: caused(
    500,
    'a home was to be reset, and the engine failed while it removed it: the snapshot is there, and a part of the home may be gone',
    'launch the container when the engine answers: Berth removes the rest before, or within a minute',
    { sentence: message('snapshots.resetUnfinished') },
  ),
  storeFailed: caused(
    500,
    'the database is locked, full, unreachable or does not respond; the request had no effect',
    'try again in a minute; operators check `/readyz` and the log',
  ),
  invitationNotMailed: fixed(
    500,
    'the mail of an invitation to a group was not accepted, or its address had too many mails within the hour',
    'try again later; the invitation stays',
    { sentence: message('groups.invitationNotMailed') },
  ),
  mailFailed: caused(
    500,
    'the mail server did not accept the mail; nothing was stored',
    'try again; operators check `SMTP_URL` and the log',
  ),
  launchFailed: refusal({
    status: 500,
    when: 'the container could not be started; `reason` is `crashed`, `out-of-memory`, `no-image`, `full`, `engine`, `node-lost` or `failed`; for a program that ended also `exit_code`, `is_out_of_memory` and `last_lines`',
    remedy: 'follow the message; operators check the log',
    sample: [anError],
    answer: (cause: unknown, why: FailedLaunch = notKnown) => ({
      sentence: why.sentence,
      extra: bodyOf(why),
      headers: retryOf(why),
      cause,
    }),
  }),
  containerDeleted: fixed(
    500,
    'an administrator deleted the container during the launch',
    'launch again; a new container is created',
  ),
  launchStopped: fixed(
    500,
    'the owner or the operator stopped the container during the launch; `reason` is `stopped`',
    'launch again',
    { extra: { reason: 'stopped' } },
  ),
  restartFailed: refusal({
    status: 500,
    when: 'the new container could not be started; fields as with `launchFailed`; the home is unchanged',
    remedy: 'follow the message; operators check the log',
    sample: [anError],
    answer: (cause: unknown, why: FailedLaunch = notKnown) => ({
      sentence: message('refusals.restartFailed', { why: why.sentence }),
      extra: bodyOf(why),
      headers: retryOf(why),
      cause,
    }),
  }),
  launchGoesOn: refusal({
    status: 500,
    when: 'a launch or restart takes longer than `LAUNCH_TIMEOUT`; the message reports its progress (`Retry-After`)',
    remedy: 'repeat the request: it joins the same launch at the same position',
    sample: [message('launches.waits', { place: 3, waiting: 9 })],
    answer: (howFar: LocalizedMessage) => ({
      sentence: message('refusals.launchGoesOn', { howFar }),
      headers: retryAfter(5),
    }),
  }),
  tooManyOfYours: refusal({
    status: 500,
    when: 'the user has reached the max number of running containers (`MAX_PER_USER`); `reason` is `full`',
    remedy: 'stop another container, or wait until one stops',
    sample: [2],
    answer: (max: number) => ({
      sentence: message('refusals.tooManyOfYours', { max }),
      extra: { reason: 'full' },
      headers: retryAfter(60),
    }),
  }),
  serverFull: fixed(
    500,
    'the max number of running containers (`MAX_RUNNING`) is reached, or the host lacks an address, disk or memory for another one; `reason` is `full`',
    'try again later; operators check `GET /api/admin/system`',
    { extra: { reason: 'full' }, headers: retryAfter(60) },
  ),
  gpusTaken: fixed(
    500,
    'all GPUs of `GPU_IDS` are in use, and none became free within `GPU_WAIT`; `reason` is `full`',
    'try again later; operators see who has them with `GET /api/admin/system`',
    { extra: { reason: 'full' }, headers: retryAfter(60) },
  ),
  tooManyLaunches: fixed(500, '10,000 launches are queued; `reason` is `full`', 'try again later', {
    extra: { reason: 'full' },
    headers: retryAfter(120),
  }),
  /** @param wayIn name of the container in which its owner can still delete files */
  diskFull: refusal({
    status: 500,
    when: "the owner's homes exceed `MAX_DISK_PER_USER` or `home_size`; `reason` is `full`",
    remedy:
      'delete files in the container that the message names, or in a running one; operators raise the limit, see [disk use](../how-to/limit-disk-use.md)',
    sample: [formatBytes(1.5 * 1024 ** 3), formatBytes(1024 ** 3), 'Development'],
    answer: (used: LocalizedMessage, max: LocalizedMessage, wayIn: string | undefined) => ({
      sentence:
        wayIn === undefined
          ? message('refusals.diskFull', { used, max })
          : message('refusals.diskFullBut', { used, max, name: wayIn }),
      extra: { reason: 'full' },
    }),
  }),
  homeUnmeasured: refusal({
    status: 500,
    when: "a disk limit is set, and the engine could not measure another home of the owner's twice in a row; `reason` is `full`",
    remedy:
      'shorten paths in the container that the message names; operators look into the log of the engine, see [disk use](../how-to/limit-disk-use.md#homes-that-cannot-be-measured)',
    sample: ['Development'],
    answer: (wayIn: string) => ({
      sentence: message('refusals.homeUnmeasured', { name: wayIn }),
      extra: { reason: 'full' },
    }),
  }),
  endsAgain: fixed(
    500,
    'the program ended right after each of its last starts and no request is waiting for it; log only, a launch by hand is never refused with it',
    'find out why the program ends',
    { extra: { reason: 'crashed' } },
  ),
  streamsFull: fixed(
    503,
    '5,000 event streams, 500 log streams or 500 pages of groups are open in total (`Retry-After`)',
    'try again in half a minute; all other functions work',
    { headers: retryAfter(30) },
  ),
  tooManySignIns: caused(
    503,
    'too many users request a link at the same time; no link was issued',
    'try again after `Retry-After`',
    { headers: retryAfter(10) },
  ),
  tooManyChanges: fixed(
    503,
    "an administrator's change waited behind others for 8 s, or a thousand are queued; it had no effect (`Retry-After`)",
    'try again in a few seconds; scripts use the bulk endpoints',
    { headers: retryAfter(5) },
  ),
  auditTooLong: refusal({
    status: 503,
    when: 'verification of the audit log takes longer than 20 seconds',
    remedy: 'run `berth audit verify` on the server',
    sample: [20],
    answer: (seconds: number) => ({ sentence: message('refusals.auditTooLong', { seconds }) }),
  }),
  stopping: fixed(500, 'Berth is shutting down', 'try again after the restart', { headers: retryAfter(30) }),
} as const

type Rows = typeof refusalRows

/** Makes each refusal by its name. */
export const refusals = Object.fromEntries(
  Object.entries<Pick<Row<never>, 'status' | 'answer'>>(refusalRows).map(([code, { status, answer }]) => [
    code,
    (...args: never) => {
      const { sentence = new LocalizedMessage(`refusals.${code}` as MessageKey, {}), ...more } = answer(...args)
      return Object.assign(new Refusal(status, sentence, more), { code })
    },
  ]),
) as { readonly [Code in keyof Rows]: (...args: Parameters<Rows[Code]['answer']>) => Refusal }
