import type { refusals } from './errors.ts'

/** When an error is returned, and what its reader does about it: a row of docs/reference/errors.md. Markdown. */
export interface RefusalDescription {
  readonly when: string
  readonly remedy: string
}

const repeat = 'try again; operators check the engine'

/** One entry for each refusal: a new one does not compile until it is described here. */
export const refusalDescriptions: Readonly<Record<keyof typeof refusals, RefusalDescription>> = {
  missingBody: { when: 'an endpoint that needs a body got none', remedy: 'send JSON' },
  notJson: { when: 'the body is not valid JSON', remedy: 'correct the body' },
  badRequest: { when: 'a value has the wrong type or format; the message names it', remedy: 'correct the value' },
  missingEmail: { when: 'the e-mail address is missing or empty', remedy: 'enter the address' },
  badEmail: { when: 'sign-up with text that is not a deliverable e-mail address', remedy: 'correct the address' },
  missingToken: { when: 'a verify endpoint was called without its token', remedy: 'open the complete link' },
  badToken: {
    when: 'the link is unknown, was deleted after it expired, or was not mailed and its account is verified by now',
    remedy: 'request a new link',
  },
  usedToken: { when: 'the link was used before; same message as `badToken`', remedy: 'request a new link' },
  expiredToken: { when: 'the link has expired; same message as `badToken`', remedy: 'request a new link' },
  otherToken: {
    when: 'a signup link at the login endpoint or the reverse; same message as `badToken`',
    remedy: 'open the link as it is in the mail',
  },
  badLogoutToken: {
    when: 'back-channel logout with a token that is not valid, or was used before; the log says why',
    remedy: 'correct issuer, client or keys at the provider',
  },
  prefetched: {
    when: 'a browser or mail scanner prefetched the link',
    remedy: 'open the page and press its button',
  },
  badParameter: {
    when: 'a launch with a parameter that the template does not have, or with a value that it does not allow',
    remedy: 'send a value that `GET /api/user/containers` names',
  },
  unknownType: { when: 'the container type is not configured', remedy: 'use one of the types that the message names' },

  noToken: { when: 'the request has no access token', remedy: 'sign in' },
  invalidToken: {
    when: 'the access token has expired, was revoked, or was not issued by this Berth',
    remedy: 'sign in',
  },
  tossedTokens: {
    when: 'the browser sent several valid tokens as cookies, so a page of a container added one; all are removed from the browser',
    remedy: 'sign in',
  },
  noSession: {
    when: 'a session was to be renewed without the cookie of one that began in this browser',
    remedy: 'sign in',
  },
  sessionExpired: {
    when: 'the session was not used for `SESSION_IDLE` seconds, or began `SESSION_MAX` seconds ago',
    remedy: 'sign in',
  },
  sessionEnded: {
    when: 'the session was ended: by sign-out, in the list of sessions, or by the provider that began it',
    remedy: 'sign in',
  },
  sessionReplayed: {
    when: 'an old copy of the cookie of the session was sent, so another person may have it; the session was ended',
    remedy: 'sign in; if it happens again, remove software that copies browser profiles',
  },
  sessionBlocked: {
    when: 'the session ended because the account was blocked',
    remedy: 'sign in again once the block is removed',
  },
  takeoverNotRenewed: { when: 'a session was to be renewed during a takeover', remedy: 'end the takeover' },
  userBlocked: { when: 'the account is blocked', remedy: 'ask the administrator' },
  notVerified: {
    when: 'login with an account that was never verified',
    remedy: 'use the signup link, or request a new one',
  },
  containerBlocked: {
    when: 'the container is blocked; `blocked_at` is the time of the block',
    remedy: 'ask the administrator',
  },
  userBlockedFromContainers: { when: 'launch or restart with a blocked account', remedy: 'ask the administrator' },
  notAdministrator: { when: 'an endpoint for administrators, called by another user', remedy: 'none' },
  metricsClosed: {
    when: '`/metrics` without the bearer token `METRICS_TOKEN`; if none is set, from another machine or through a proxy',
    remedy: 'send the token; see [monitoring](../how-to/monitor.md#metrics)',
  },
  noSignInByLink: {
    when: 'a request for a link while `SIGN_IN` is `oidc`; resend-verification answers 200 then, and mails nothing',
    remedy: 'sign in with a provider',
  },
  takenOver: {
    when: 'during a takeover, an action that only the user may perform',
    remedy: 'end the takeover; administer with your own account',
  },
  missingScope: {
    when: 'the API token lacks the scope that the endpoint asks for; the message and `WWW-Authenticate` name it',
    remedy: 'make a token with this scope',
  },
  notForApiTokens: {
    when: 'an API token at an endpoint without a scope, such as sessions, takeover and API tokens themselves',
    remedy: 'sign in with a browser',
  },
  adminScope: {
    when: 'a user who is no administrator asks for an API token with `admin:`',
    remedy: 'leave the scope out',
  },
  forgeable: {
    when: "a browser authenticated by cookie without the CSRF token of one of Berth's own pages",
    remedy: 'open Berth by its address; on plain http sign in again; programs send the token as a header',
  },
  noNavigation: {
    when: 'a browser asked for `/api/auth/continue` or `/api/auth/enter` otherwise than by opening a page',
    remedy: 'open the page; to renew a session from a script use `POST /api/auth/refresh`',
  },

  notGroupManager: {
    when: 'members, containers or the join code of a group, for a user who is no manager of it',
    remedy: 'ask a manager of the group, or an administrator',
  },
  typeOfGroups: {
    when: 'launch of a type whose template names `groups`, by a user who is in none of them',
    remedy: 'join one of the groups',
  },
  groupExpired: {
    when: 'launch of a type of a group that has expired',
    remedy: 'administrators change `expires_at`, or remove the user from the group',
  },
  lookByManagers: {
    when: 'an administrator who does not manage the group asks a member to look at a container',
    remedy: 'a manager of the group asks; administrators can become one, which the audit log has',
  },
  badArchive: {
    when: 'an archive for a home is not complete, not tar, or has entries that lead out of its top, sparse files, or too many entries',
    remedy: 'make it anew as the message says; nothing of it was unpacked',
  },
  snapshotsOff: {
    when: 'a snapshot of a home was asked for while `SNAPSHOTS` is off',
    remedy: 'ask the operator',
  },
  sharingOff: {
    when: 'a container was to be shared, and the setting `SHARING` does not allow it with such visitors',
    remedy: 'ask the operator',
  },

  userGone: { when: 'the account of the token was deleted', remedy: 'sign up' },
  notFound: {
    when: 'the user, container, session, API token, share, request to look, snapshot, path in a snapshot, or address does not exist',
    remedy: 'look it up in the list',
  },
  groupNotFound: {
    when: 'no such group, no such member of it, or a join code that no group has',
    remedy: 'check the id, or the spelling of the code',
  },
  archiveNotFound: {
    when: 'a mailed link to archives of homes that is wrong or over, or an archive that is deleted; a download that was begun more than a minute ago, or twice',
    remedy: 'open the link of the newest mail again; archives are kept until the date in it',
  },
  wrongMethod: { when: 'the address exists with another method (`Allow`)', remedy: 'use that method' },
  conflict: {
    when: 'the change would leave no active administrator, concerns oneself, or there is no takeover to end',
    remedy: 'ask another administrator',
  },
  groupLimit: {
    when: 'a launch for which a limit of a group leaves no room; the body has `limit` and `group`',
    remedy: 'stop another container, or delete files; administrators raise the limit',
  },
  tooLarge: { when: 'the body is larger than 64 KiB', remedy: 'send less' },
  tooManyLinks: {
    when: 'too many links in an hour for one address (`MAGIC_LINK_RATE_LIMIT`) or one mailbox (`MAILBOX_RATE_LIMIT`); `Retry-After`, `Links-Left: 0`',
    remedy: 'use the newest mail, or wait',
  },
  tooManyRequests: {
    when: 'more than `REQUESTS_PER_MINUTE` requests without a token from one network address that led to no sign-in (`Retry-After`)',
    remedy: 'try again in a minute; operators who see it for all users set `TRUSTED_PROXIES`',
  },
  tooManyForMailbox: {
    when: 'one network address sent more than ten requests a minute for one mailbox (a sixtieth of `REQUESTS_PER_MINUTE`, at least five; `Retry-After`)',
    remedy: 'use the newest mail; try again in a minute',
  },
  tooManyJoinCodes: {
    when: 'more than ten wrong join codes of one user within a minute',
    remedy: 'wait, and check the code',
  },
  tooManyOwnChanges: {
    when: 'more than 600 shares, API tokens, or transfers and resets of homes of one account, of which 300 an hour are forgotten; the audit log keeps each (`Retry-After`)',
    remedy: 'wait, and share with a group instead of many people; nothing that ends access is counted',
  },
  tooManyInvitations: {
    when: 'a manager who is no administrator would have more than 500 invitations mailed within an hour; nothing of the list is done (`Retry-After`)',
    remedy: 'invite the rest later, ask an administrator, or give out a join code',
  },
  tooManyLookRequests: {
    when: 'a manager asks a member to look within 30 minutes after the member has declined, more than three times an hour, or while five requests to the member are open (`Retry-After`)',
    remedy: 'talk to the member, or wait',
  },
  tooManyStreams: {
    when: 'more than 20 open event streams, 5 log streams or 5 pages of groups of one user (`Retry-After`)',
    remedy: 'close some pages',
  },
  tooManyAtOnce: {
    when: 'one user has 100 requests in progress (`Retry-After`)',
    remedy: 'wait for the answers; scripts send fewer requests in parallel',
  },

  tooManyDownloads: {
    when: 'archives of homes were downloaded 50 times by the mailed links of one person',
    remedy: 'ask the operator for the file',
  },
  tooManyTransfers: {
    when: 'one user has three downloads of snapshots, or all users have fifty',
    remedy: 'wait until one is done',
  },
  snapshotsBusy: {
    when: 'too many homes wait to be read or written (a launch waits 15 minutes for the snapshot before another image), three restores of this home are under way, other work on it came first, or too many archives are sent',
    remedy: 'try again after `Retry-After` seconds',
  },
  stopFailed: { when: 'the engine does not respond, or could not stop the container', remedy: repeat },
  keepFailed: { when: 'the engine does not respond about the container to keep running', remedy: repeat },
  logsFailed: { when: 'the engine does not respond, so the log cannot be read', remedy: repeat },
  snapshotFailed: {
    when: 'a home could not be read or written, e.g. because its disk is full; of what was to be restored nothing is there',
    remedy: 'try again; the log says why',
  },
  homesUnknown: {
    when: 'an end of term was previewed or begun, and the engine does not tell its homes',
    remedy: repeat,
  },
  snapshotDiskFull: {
    when: 'the disk of `DATA_DIR` is nearly full: snapshots and uploads leave a twentieth of it, at most 1 GiB, free',
    remedy: 'operators make room, or move `DATA_DIR` to a larger disk',
  },
  restoreUnfinished: {
    when: 'a restore failed, and the engine did not remove what was there of it',
    remedy: 'leave the container stopped: Berth completes the folder within a minute after the engine answers',
  },
  resetUnfinished: {
    when: 'a home was to be reset, and the engine failed while it removed it: the snapshot is there, and a part of the home may be gone',
    remedy: 'launch the container when the engine answers: Berth removes the rest before, or within a minute',
  },
  storeFailed: {
    when: 'the database is locked, full, unreachable or does not respond; the request had no effect',
    remedy: 'try again in a minute; operators check `/readyz` and the log',
  },
  invitationNotMailed: {
    when: 'the mail of an invitation to a group was not accepted, or its address had too many mails within the hour',
    remedy: 'try again later; the invitation stays',
  },
  mailFailed: {
    when: 'the mail server did not accept the mail; nothing was stored',
    remedy: 'try again; operators check `SMTP_URL` and the log',
  },
  launchFailed: {
    when: 'the container could not be started; `reason` is `crashed`, `out-of-memory`, `no-image`, `full`, `engine`, `node-lost` or `failed`; for a program that ended also `exit_code`, `is_out_of_memory` and `last_lines`',
    remedy: 'follow the message; operators check the log',
  },
  containerDeleted: {
    when: 'an administrator deleted the container during the launch',
    remedy: 'launch again; a new container is created',
  },
  launchStopped: {
    when: 'the owner or the operator stopped the container during the launch; `reason` is `stopped`',
    remedy: 'launch again',
  },
  restartFailed: {
    when: 'the new container could not be started; fields as with `launchFailed`; the home is unchanged',
    remedy: 'follow the message; operators check the log',
  },
  launchGoesOn: {
    when: 'a launch or restart takes longer than `LAUNCH_TIMEOUT`; the message reports its progress (`Retry-After`)',
    remedy: 'repeat the request: it joins the same launch at the same position',
  },
  tooManyOfYours: {
    when: 'the user has reached the max number of running containers (`MAX_PER_USER`); `reason` is `full`',
    remedy: 'stop another container, or wait until one stops',
  },
  serverFull: {
    when: 'the max number of running containers (`MAX_RUNNING`) is reached, or the host lacks an address, disk or memory for another one; `reason` is `full`',
    remedy: 'try again later; operators check `GET /api/admin/system`',
  },
  tooManyLaunches: { when: '10,000 launches are queued; `reason` is `full`', remedy: 'try again later' },
  diskFull: {
    when: "the owner's homes exceed `MAX_DISK_PER_USER` or `home_size`; `reason` is `full`",
    remedy:
      'delete files in the container that the message names, or in a running one; operators raise the limit, see [disk use](../how-to/limit-disk-use.md)',
  },
  homeUnmeasured: {
    when: "a disk limit is set, and the engine could not measure another home of the owner's twice in a row; `reason` is `full`",
    remedy:
      'shorten paths in the container that the message names; operators look into the log of the engine, see [disk use](../how-to/limit-disk-use.md#homes-that-cannot-be-measured)',
  },
  endsAgain: {
    when: 'the program ended right after each of its last starts and no request is waiting for it; log only, a launch by hand is never refused with it',
    remedy: 'find out why the program ends',
  },
  streamsFull: {
    when: '5,000 event streams, 500 log streams or 500 pages of groups are open in total (`Retry-After`)',
    remedy: 'try again in half a minute; all other functions work',
  },
  tooManySignIns: {
    when: 'too many users request a link at the same time; no link was issued',
    remedy: 'try again after `Retry-After`',
  },
  tooManyChanges: {
    when: "an administrator's change waited behind others for 8 s, or a thousand are queued; it had no effect (`Retry-After`)",
    remedy: 'try again in a few seconds; scripts use the bulk endpoints',
  },
  auditTooLong: {
    when: 'verification of the audit log takes longer than 20 seconds',
    remedy: 'run `berth audit verify` on the server',
  },
  stopping: { when: 'Berth is shutting down', remedy: 'try again after the restart' },
}
