import type { BrowserContext, Page, Request, WebSocket } from 'playwright-core'

/** What a browser did on behalf of an app's pages, frames and workers, as far as a person would want to know. */
export interface Traffic {
  /** Requests on our origin beside the app's own prefix: `GET /x`; each once. */
  readonly outside: string[]
  /** Other origins, each once: `https://elsewhere`. */
  readonly elsewhere: string[]
  /** Requests without an answer, or with one of 400 and above: `404 GET /x`; those that a page gave up itself are not. */
  readonly failed: string[]
  readonly sockets: WatchedSocket[]
  /** Addresses of service workers' scripts. */
  readonly workers: string[]
  /** Forgets what was seen so far. */
  clear(): void
}

export interface WatchedSocket {
  readonly path: string
  received: number
  sent: number
  isOpen: boolean
  error: string | undefined
}

/**
 * Looks at everything from now on.
 * @param home address of the app, with its prefix and the slash after it
 */
export function watchTraffic(context: BrowserContext, home: string): Traffic {
  const traffic = {
    outside: [] as string[],
    elsewhere: [] as string[],
    failed: [] as string[],
    sockets: [] as WatchedSocket[],
    workers: [] as string[],
  }
  const ours = new URL(home).origin
  const name = (request: Request) => `${request.method()} ${nameOf(request.url(), home)}`
  context.on('request', (request) => {
    if (/^(data|blob):/.test(request.url()) || request.url().startsWith(home)) return
    const { origin } = new URL(request.url())
    if (origin !== ours) addOnce(traffic.elsewhere, origin)
    else addOnce(traffic.outside, name(request))
  })
  context.on('response', (response) => {
    if (response.status() >= 400) traffic.failed.push(`${response.status()} ${name(response.request())}`)
  })
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'failed'
    if (reason !== 'net::ERR_ABORTED' && new URL(request.url()).origin === ours)
      traffic.failed.push(`${reason} ${name(request)}`)
  })
  context.on('serviceworker', (worker) => traffic.workers.push(nameOf(worker.url(), home)))
  const watchPage = (page: Page) => page.on('websocket', (socket) => traffic.sockets.push(watchSocket(socket, home)))
  context.on('page', watchPage)
  context.pages().forEach(watchPage)
  const clear = () => {
    for (const list of Object.values(traffic)) list.length = 0
  }
  return { ...traffic, clear }
}

function addOnce(list: string[], text: string): void {
  if (!list.includes(text)) list.push(text)
}

/** The path on our own origin, the origin elsewhere. Queries hold tokens. */
function nameOf(url: string, home: string): string {
  const { origin, pathname } = new URL(url)
  return origin.replace(/^ws/, 'http') === new URL(home).origin ? pathname : origin
}

function watchSocket(socket: WebSocket, home: string): WatchedSocket {
  const watched: WatchedSocket = {
    path: nameOf(socket.url(), home),
    received: 0,
    sent: 0,
    isOpen: true,
    error: undefined,
  }
  socket.on('framereceived', () => (watched.received += 1))
  socket.on('framesent', () => (watched.sent += 1))
  socket.on('socketerror', (error) => (watched.error = error))
  socket.on('close', () => (watched.isOpen = false))
  return watched
}
