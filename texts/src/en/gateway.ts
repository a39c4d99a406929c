/**
 * What the gateway says itself, by the names of `gateway/src/pages/gateway-refusals.ts`. These areas have plain
 * arguments only: see `gateway/src/pages/localize-plain.ts`.
 */
export const gateway = {
  badMessage: 'This request is not valid. {why}',
  badTarget: 'This address is not valid. {why}',
  headTooLarge: 'Address, headers and cookies are too large together: at most {limit} bytes.',
  targetTooLong: 'This address is too long: at most {max} bytes with its query. Shorten it.',
  pathTooLong: 'This address is too long: at most {max} bytes before its query. Shorten it.',
  tooManyCookies:
    'Your browser sent more cookies than fit into {limit} bytes, probably set by a page of a container. The largest were removed: load the page again.',
  tooSlow: 'The request did not arrive in time. Try again.',
  noToken:
    'You are not signed in, or your sign-in has ended. Load this page again in your browser to sign in and come back here; a program has to send a valid access token.',
  sessionBlocked:
    'Your sign-in ended when this account was blocked, so it opens no stream and no WebSocket. The block is removed: sign in again.',
  apiToken:
    'An API token opens no container: it is for the API only. Sign in with a browser, or leave it out of this request.',
  secretInAddress:
    'This address contains an API token, or the cookie that renews a session. No app may receive one: leave it out of the address. Remove that token, or end that session, because addresses are written to logs.',
  tokenOfAnotherHost: 'This access token is for another container. Open this one from the dashboard.',
  tossedTokens: 'The browser sent several access tokens, so none of them is accepted. Sign in again.',
  nothingHere: 'There is no container at this address. Check its spelling, or open the container from the dashboard.',
  callerBlocked: 'This account is blocked. Ask your administrator.',
  notYours: 'This container belongs to another user. Ask its owner, or open your own containers from the dashboard.',
  shareIsForLooking:
    'The owner lets you look at this container, not use it: requests that change something, and WebSockets, are refused.',
  containerBlocked: 'This container is blocked. Ask your administrator.',
  foreignOrigin: 'A WebSocket may be opened only by a page of this host. Open the app at its own address.',
  foreignPage:
    'A page of another address asked for this with your sign-in. Open the app at its own address, in a window of its own.',
  entryRefused:
    'This way into a container was used already, has expired, or was begun in another browser. Open the container again.',
  isolatedWorker:
    'Only the owner of a container may register a worker for it: it would continue to run in your browser.',
  pageWhileActing:
    'While you act for another user, their containers do not open in your browser: a page of theirs would share its address with your own containers, and could go on as you when the takeover is over. Read the log of the container on the dashboard, or ask its owner to show you.',
  workerOnBarePrefix: 'A service worker may not be registered at this address: it would reach other containers.',
  tooManyConnections: 'Too many connections are open at the moment. Try again in a moment.',
  tooManyOfYours: 'You have too many connections open: at most {max}. Close some pages first.',
  starting: 'The service is starting. Try again in a second.',
  behind:
    'This node of the service has lost touch with the others and opens no container until it is back. Try again in a moment.',
  platformDown: 'The service is restarting; what is open stays open. Try again in a moment.',
  shuttingDown: 'The service is restarting. Try again in a moment.',
  changed: 'This container was changed just now. Try again.',
  nothingListens: 'Nothing listens on port {port} of this container.',
  portUnreachable:
    'Nothing can be reached on port {port} of this container now. Try again in a moment; a container that was created by an older Berth has to be restarted first.',
  appNotReady: 'The app in this container is still starting. Try again in a moment.',
  appFailed: 'The app in this container does not answer properly. Try again in a moment.',
  bug: 'An internal error occurred. Try again in a moment; if it happens again, tell your administrator.',
  absent: '{title}. {what} {todo}',
} as const

/**
 * Pages of the server's own: the gateway's, and what is read where no script runs. Everything is escaped when it
 * becomes HTML.
 */
export const pages = {
  help: 'Help:',
  imprint: 'Imprint',
  privacy: 'Privacy',
  noScript: '{product} needs JavaScript to sign you in. Switch it on and reload the page.',
  openDashboard: 'Open the dashboard',
  openAgain: 'Open the container again',
  otherAccount: 'Sign in with another account',
  status: 'Status {status}',
  sandboxNote:
    'This page is incomplete, or stays empty. It belongs to another user’s container, and here such pages may load no scripts and styles: this protects your own containers. The owner can show you what you need as a single page, or send it to you. An administrator can make whole applications work for visitors by giving each container its own host.',
  dismiss: 'Close this note',
  lastLines: 'Last lines of its output',

  title400: 'This address is not valid',
  title403: 'Access denied',
  title404: 'Not found',
  title405: 'This cannot be done here',
  title414: 'This address is too long',
  title429: 'Too much at once',
  title431: 'The request is too large',
  title502: 'The app does not answer',
  title503: 'This is not available at the moment',
  title504: 'The app takes too long',
  titleOther: 'This did not work',

  startingName: 'Starting {name}',
  startingText: '{name} is being started for you. This page opens it as soon as it answers.',
  usuallyTakes: 'Starting usually takes about {seconds} s here.',
  nothingNew: 'Nothing new for a minute?',
  steps: 'Steps',
  stepStarting: 'Starting the container',
  stepWaiting: 'Waiting for the app to answer',
  answers: 'It answers. Opening it…',
  goOn: 'Continue',
  tryAgain: 'Try again',
  startIt: 'Start it',
  startItAgain: 'Start it again',

  filesStay: 'The files in its home folder are kept.',
  deadPortTitle: 'Nothing listens on port {port}',
  deadPortWaits: 'This page asks again every few seconds, and shows the program as soon as it listens.',
  deadPortOthers: 'What listens in this container now:',
  deadPortNone: 'Nothing else listens in this container either.',
  asleepTitle: '{name} is stopped',
  asleepWhat: 'It is not running at the moment. {filesStay}',
  asleepTodo: 'Start it to continue where you left off.',
  evictedTitle: '{name} was ended by the cluster',
  evictedWhat:
    'The machine that it ran on was shut down, emptied or short of memory or disk. Its program did nothing wrong. {filesStay}',
  evictedTodo: 'Start it again: it runs elsewhere then. What was in its memory is lost.',
  nodeLostTitle: '{name} is on a machine that does not answer',
  nodeLostWhat:
    'It is not known whether its program has ended, and a second one must not write to the same files. {filesStay}',
  nodeLostTodo:
    'Try again in a few minutes: it starts as soon as the machine is back, or your administrator has removed it from the cluster.',
  missingTitle: '{name} has not been started yet',
  missingWhat: 'It has never been started, or it was removed.',
  missingTodo: 'Start it to create a new one. If it had a home folder, your files are in it again.',
  crashedTitle: '{name} has ended',
  crashedWhat: '{ended} {filesStay}',
  crashedTodo: 'Start it again. If it ends again, the last lines of its output may say why.',
  commandTodo:
    'Starting it again does not help as long as the command is missing: ask your administrator. The last lines of its output may name it.',
  memoryTitle: '{name} ran out of memory',
  memoryWhat: 'It needed more memory than it may use, so it was ended. {filesStay}',
  memoryWhatCode: 'It needed more memory than it may use, so it was ended (exit code {exitCode}). {filesStay}',
  memoryTodo: 'Start it again and do less at a time, or ask your administrator for more memory.',
  imageTitle: '{name} has nothing to start from',
  imageWhat: 'Its image is not on this server and could not be fetched.',
  imageTodo: 'Ask your administrator to provide it, then try again.',
  refusedTitle: '{name} cannot be started now',
  refusedWhat: '{why}',
  refusedTodo: 'The dashboard shows what runs and what you can start.',
  failedTitle: '{name} could not be started',
  failedWhat: 'Starting it did not work. {filesStay}',
  failedWhatCode: 'Starting it did not work. {ended} {filesStay}',
  failedTodo: 'Try again. If that does not help, ask your administrator.',
  unknownTitle: '{name} cannot be reached',
  unknownWhat: 'The container engine does not answer, so the state of the container is not known. Nothing is lost.',
  unknownTodo: 'Try again in a moment. If this lasts, tell your administrator.',
  unreachableTitle: '{name} does not answer',
  unreachableWhat: 'It is running, but the app in it does not answer. It may still be starting.',
  nothingListensWhat:
    'It is running, but nothing in it takes connections on port {port}. It may still be starting, or the app listens on another port or on 127.0.0.1 alone.',
  nothingListensTodo:
    'Try again in a moment. If this lasts, tell your administrator: the app has to listen on 0.0.0.0, at the port of its template.',
  unreachableTodo: 'Try again in a moment. If this lasts, restart it from the dashboard.',
  blockedTitle: '{name} is blocked',
  blockedWhat: 'An administrator has blocked it, so it cannot be used or started. {filesStay}',
  blockedTodo: 'Ask your administrator why, and what has to happen to lift the block.',

  othersStart: 'Only its owner can start it. Ask them, then try again.',
  othersAgain: 'Try again in a moment. If this lasts, tell its owner.',
  othersDashboard: 'Its owner can ask the administrator why.',

  ended: 'Its program ended by itself.',
  exit0: 'It ended by itself, without an error (exit code {code}).',
  exit126: 'Its command was found but could not be run (exit code {code}).',
  exit127: 'Its command was not found in the image (exit code {code}).',
  exit130: 'It was interrupted (exit code {code}).',
  exit132: 'It crashed: this processor does not know one of its instructions (exit code {code}).',
  exit134: 'It aborted because of an error of its own (exit code {code}).',
  exit136: 'It crashed in a calculation (exit code {code}).',
  exit137: 'It was killed, most often because memory ran out (exit code {code}).',
  exit139: 'It crashed: it accessed memory that is not its own (exit code {code}).',
  exit143: 'It was asked to end (exit code {code}).',
  exitSignal: 'It was ended by signal {signal} (exit code {code}).',
  exitOther: 'It ended with an error of its own (exit code {code}).',
} as const

/** What is wrong with a message or an address, after "This request is not valid." */
export const faults = {
  noName: 'A header line has no valid name.',
  badCharacter: 'A header contains a character that is not allowed.',
  tooManyHeaders: 'It has more than {max} headers.',
  badMethod: 'Its method is not valid.',
  noMethod: 'It does not begin with a method.',
  forbiddenMethod: 'This method is not allowed here.',
  badFirstLine: 'Its first line is not valid.',
  badVersion: 'Only HTTP/1.1 and HTTP/1.0 are supported.',
  noPath: 'Its target must be a path that begins with a slash.',
  badTargetCharacter: 'Its target contains a character that is not allowed in an address.',
  twoHosts: 'It names two hosts.',
  twoLengths: 'It has two lengths.',
  twoCodings: 'It has two transfer codings.',
  paddedCoding: 'Its coding is padded.',
  longConnection: 'It names too many connection options.',
  twoAuthorizations: 'It has two Authorization headers.',
  noHost: 'It names no host.',
  badHost: 'Its host is not valid.',
  lengthAndCoding: 'It has a length and a transfer coding.',
  unknownCoding: 'The only transfer coding that is supported is "chunked".',
  lengthInTwoWays: 'It states its length in two ways.',
  codingInHttp10: 'HTTP/1.0 has no transfer codings.',
  badLength: 'Its length is not a number.',
  longChunkLine: 'A chunk begins with too long a line.',
  longFraming: 'Its chunks have far more framing than data.',
  longChunk: 'A chunk is longer than it says.',
  badChunkLine: 'A line of a chunk does not end with CRLF.',
  noChunkSize: 'A chunk does not state its size.',
  longTrailers: 'Its trailers are too long.',
  badTrailers: 'Its trailers state a length.',
  oneSlash: 'It must begin with exactly one slash.',
  backslash: 'It contains a backslash.',
  badEscape: 'It contains a percent sign that begins no valid escape.',
  climbs: 'Its ".." segments lead out of the container.',
} as const
