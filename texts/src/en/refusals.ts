/** What the API says when it refuses, by the names of `errors.ts`. */
export const refusals = {
  missingBody: `The request has no body. Send JSON such as '{"email": "you@example.org"}'.`,
  notJson: 'The body is not valid JSON. Check its syntax.',
  missingEmail: `The e-mail address is missing. Send it as '{"email": "you@example.org"}'.`,
  badEmail: 'This is not an e-mail address we can send mail to. It should look like you@example.org.',
  missingToken: 'The link is incomplete: its token is missing. Open the whole link from the mail.',
  badToken: 'This link is not valid: it was used already, has expired, or is of another kind. Ask for a new one.',
  badLogoutToken: 'This logout token is not valid, so no session was ended.',
  prefetched: 'This request is a prefetch, which does not use up the link. Open the page and press its button.',
  noParameters: 'This container type has no parameters to choose. Launch it without any.',
  unknownParameter: 'There is no parameter {name}. Known parameters: {names}.',
  parameterChoice: 'The parameter {name} must be one of these: {choices}.',
  parameterBoolean: 'The parameter {name} must be true or false.',
  parameterNumber: 'The parameter {name} must be a number.',
  parameterMin: 'The parameter {name} must be at least {limit}.',
  parameterMax: 'The parameter {name} must be at most {limit}.',
  parameterText: 'The parameter {name} must be text without null characters.',
  parameterMinLength: 'The parameter {name} must have at least {limit} characters.',
  parameterMaxLength: 'The parameter {name} must have at most {limit} characters.',
  unknownType: 'There is no such container type. Known types: {types}.',
  noToken: 'Sign in first: this needs an access token.',
  invalidToken: 'Your sign-in has ended: its access token is not valid any more. Sign in again.',
  tossedTokens: 'The browser sent several access tokens, so none of them is accepted. Sign in again.',
  noSession: 'There is no session in this browser. Sign in.',
  sessionExpired: 'Your sign-in has ended because it was not used for a long time. Sign in again.',
  sessionEnded: 'Your sign-in was ended, here or from another device. Sign in again.',
  sessionReplayed:
    'Your sign-in was ended to protect the account: an old copy of it was used. Sign in again, and tell your administrator if this was not you.',
  sessionBlocked:
    'Your sign-in ended when this account was blocked. Sign in again once the block is removed; your administrator knows more.',
  takeoverNotRenewed:
    'An administrator acts for a user in this browser, so its session is not renewed. End the takeover first.',
  userBlocked: 'This account is blocked. Ask your administrator.',
  notVerified: 'This account is not verified yet. Use the signup link first, or ask for a new one.',
  notRestarted: 'The container or its owner is blocked, so it is not restarted. Unblock it first.',
  containerBlocked: 'This container is blocked. Ask your administrator.',
  userBlockedFromContainers: 'This account is blocked, so its containers cannot be started. Ask your administrator.',
  metricsClosed:
    'The metrics are not public. Send "Authorization: Bearer" with the METRICS_TOKEN of this Berth; without such a setting they are answered on the machine itself only.',
  noSignInByLink: 'Links are not mailed here. Sign in with one of the buttons of the login page.',
  takenOver:
    'In this session an administrator acts for the owner of the account. It may neither administer nor end sessions. End the takeover first.',
  notAdministrator: 'Only administrators may do this. Ask one of them, or sign in with another account.',
  missingScope: 'This API token does not have the scope {scope}. Make one that has it.',
  notForApiTokens: 'No API token may do this, whatever its scopes. Sign in with a browser.',
  adminScope: 'Only administrators may have API tokens with a scope that begins with admin.',
  forgeable:
    'A browser may do this only from a page of this site itself. Open the site by its address; where that is plain http, sign in again.',
  noNavigation:
    'This address leads a browser on to a page. It answers no script, no image and no prefetch: open the page itself.',
  userGone: 'The account of this token does not exist any more.',
  userNotFound: 'There is no such user.',
  containerNotFound: 'There is no such container.',
  sessionNotFound: 'There is no such session.',
  tokenNotFound: 'There is no such API token.',
  sshKeyNotFound: 'There is no such SSH key.',
  sshServerNotFound: 'This Berth has no SSH server.',
  shareNotFound: 'There is no such share; it may have ended.',
  lookRequestNotFound: 'There is no such request; it may be answered, or its time is over.',
  homeNotFound: 'There is no such home; it may have been removed.',
  snapshotNotFound: 'There is no such snapshot; it may have been removed.',
  pathNotFound: 'The snapshot has no such path. Paths begin in the home folder, such as notes/2026.',
  providerNotFound: 'There is no such way to sign in. Open the login page and choose one.',
  addressNotFound: 'There is nothing at this address. Check its spelling.',
  wrongMethod: 'This address answers {methods} only.',
  tooLarge: 'The body is too large: at most {limit} bytes are accepted here.',
  tooManyLinks:
    'Too many links were sent to this address: at most {perHour} per hour. Use the newest one, or try again later.',
  tooManyRequests:
    'Too many requests came from your network address: at most {perMinute} a minute. Try again in a moment.',
  tooManyForMailbox:
    'Too many requests for this mail address came from your network: at most {perMinute} a minute. Use the newest mail, or try again in a moment.',
  tooManyOwnChanges:
    'You have changed too much in a short time: at most {perHour} changes an hour are kept in the audit log. Try again later.',
  tooManyStreams: 'Too many of your pages follow your containers already. Close some of them.',
  tooManyAtOnce: 'You already have {max} requests under way. Wait until some of them are answered, then try again.',
  streamsFull:
    'As many pages follow containers and logs as this server can serve. Try again in half a minute; everything else works.',
  stopFailed: 'The container engine does not answer, or could not stop the container. Try again in a moment.',
  linkHost: 'Files of this host are not allowed here. Ask your administrator to allow it, or get the files yourself.',
  badLink: 'The link names no Git repository, branch or folder that can be used. Ask who gave you the link.',
  noHomeForFiles: 'Files cannot be put into this container now. Launch it first; if it runs, get the files yourself.',
  filesFailed:
    'The files could not be fetched, or could not be put into your home folder. Nothing of yours was changed. Try again in a minute; if that does not help, ask the person who gave you the link whether the repository and its branch are right.',
  keepFailed:
    'The container engine does not answer about this container, so it is not known whether it runs. Try again in a moment.',
  portsOfStopped: 'This container does not run, so nothing listens in it. Open it first.',
  portsUnknown:
    'What listens in this container cannot be told now. Try again in a moment; a container that was created by an older Berth has to be restarted first.',
  logsFailed: 'The container engine does not answer, so nothing can be read there now. Try again in a moment.',
  storeFailed: 'The database does not answer, or cannot be written at the moment. Try again in a minute.',
  mailFailed: 'The mail could not be sent. Nothing was changed; try again in a few minutes.',
  containerDeleted: 'An administrator deleted this container while it was starting. Launch it again for a new one.',
  launchStopped: 'This container was stopped before it ran. Launch it again when you need it.',
  restartFailed: '{why} Your files are safe.',
  launchGoesOn: '{howFar} The launch continues; ask again in a moment.',
  tooManyOfYours: 'You have {max} containers running already, as many as you may. Stop one of them first.',
  serverFull: 'The server has no room for another container now. Nothing is lost; try again in a few minutes.',
  gpusTaken: 'All GPUs are in use, and none became free in time for your container. Nothing is lost; try again later.',
  tooManyLaunches: 'Too many containers are waiting to be started. Try again in a few minutes.',
  diskFull:
    'Your files take {used} of the {max} that they may, so this is not started. Delete some under “Files” on the card of a stopped container, or ask your administrator for more room.',
  diskFullBut:
    'Your files take {used} of the {max} that they may, so this is not started. Delete some in {name}, which still starts, or under “Files” on the card of a stopped container, or ask your administrator for more room.',
  homeUnmeasured:
    'The files in your home folder of {name} cannot be measured, so nothing else of yours is started. Folders in it may be nested too deeply: delete or move them in {name}, which still starts, or ask your administrator.',
  endsAgain:
    'The container was not started, because its program ended after each of its last starts. Launch it yourself to try once more.',
  tooManySignIns:
    'Too many requests for a link are waiting at this moment, so none was sent. Try again in ten seconds.',
  tooManyChanges:
    'Too many changes by administrators are under way at this moment, so this one was not made. Try again in a few seconds.',
  auditTooLong:
    'The audit log could not be verified within {seconds} seconds. Run "berth audit verify" on the server, which has no time limit.',
  stopping: 'The service is being stopped, so nothing is started now. Nothing is lost; try again in a minute.',
  bug: 'An internal error occurred and was logged. Try again; if it happens again, tell your administrator.',
} as const
