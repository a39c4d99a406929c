/** What the gateway says itself, by the names of `gateway/responses/gateway-refusals.ts`. Plain arguments only: see `gateway/localize-plain.ts`. */
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
  appNotReady: 'The app in this container is still starting. Try again in a moment.',
  appFailed: 'The app in this container does not answer properly. Try again in a moment.',
  bug: 'An internal error occurred. Try again in a moment; if it happens again, tell your administrator.',
  absent: '{title}. {what} {todo}',
} as const
