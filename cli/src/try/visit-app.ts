import { setTimeout as wait } from 'node:timers/promises'
import type { Chromium, DevtoolsEvent } from './chromium.ts'

/** How long the first page may load, in ms, and how often it is opened again when networks of the machine change. */
const [loadTimeout, maxVisits] = [20_000, 4]

/** What is visited, and as whom. */
export interface VisitTarget {
  /** With its slash. */
  readonly home: string
  /** Path and query below the home to begin with. */
  readonly openPath: string
  readonly token: string
  /** Domain of the platform's cookie, with its dot. */
  readonly cookieDomain: string
}

/**
 * Opens an application, waits until it is loaded, and clicks around in it. Chromium gives up what it is loading when an
 * interface of the machine changes, as with every container that starts beside it: then the visit begins again.
 * @param clickTime ms for all clicks; 0: none
 * @throws {Error} when the browser ends, or networks change all the time · the reason of the signal
 */
export async function visitApp(
  chromium: Chromium,
  target: VisitTarget,
  clickTime: number,
  signal: AbortSignal,
): Promise<VisitRecord> {
  for (let visit = 1; visit <= maxVisits; visit += 1) {
    const record = newRecord()
    const cookie = { token: target.token, domain: target.cookieDomain }
    const page = await openPage(chromium, record, cookie, signal)
    try {
      await look(page, record, target)
      if (clickTime > 0 && !page.watcher.isDisturbed) await clickAround(page, record, target.home, clickTime)
      record.cookies.push(...(await page.cookies()))
      if (!page.watcher.isDisturbed) return record
    } finally {
      await page.close()
    }
  }
  throw new Error('networks of this machine change all the time, and the browser gives up what it loads')
}

async function look(page: OpenPage, record: VisitRecord, { home, openPath }: VisitTarget): Promise<void> {
  const end = performance.now() + loadTimeout
  await page.goTo(home + openPath, loadTimeout)
  record.isEmpty = (await page.evaluate<boolean>(emptyScript)) ?? false
  // Large scripts work for seconds before they show anything.
  while (record.isEmpty && performance.now() < end) {
    await page.untilQuiet(end - performance.now())
    record.isEmpty = (await page.evaluate<boolean>(emptyScript)) ?? false
  }
  record.finalUrl = (await page.evaluate<string>('location.href')) ?? ''
  record.links.push(...((await page.evaluate<string[]>(linksScript)) ?? []))
}

/** Neither a letter nor a picture nor a control: what is left of a page whose scripts are not found. */
const emptyScript = `(() => {
  const shown = document.body?.innerText?.trim() ?? ''
  return shown === '' && !document.querySelector('img, canvas, svg, video, iframe, frame, input, button, textarea, object, embed')
})()`

/** Addresses that the page names in its attributes, resolved by the browser. */
const linksScript = `[...document.querySelectorAll('a[href], area[href], link[href], form[action], [src]')]
  .map((each) => each.tagName === 'FORM' ? new URL(each.getAttribute('action'), document.baseURI).href : each.href || each.src)
  .filter((each) => typeof each === 'string' && /^(https?|wss?):/.test(each))
  .slice(0, 500)`

/** How long nothing may be loading until a page counts as loaded, in ms. */
const quietTime = 500

/** A page in a fresh profile, with its frames and workers. */
interface OpenPage {
  readonly watcher: PageWatcher
  /** Goes to an address, and waits until nothing is loading; at most the limit in ms. */
  goTo(url: string, limit: number): Promise<void>
  /** Waits until nothing is loading; at most the limit in ms. */
  untilQuiet(limit: number): Promise<void>
  /** Value of an expression in the page, as JSON; undefined where it throws. */
  evaluate<T>(expression: string): Promise<T | undefined>
  /** A click of the left button, as of a mouse. */
  click(x: number, y: number): Promise<void>
  cookies(): Promise<SeenCookie[]>
  close(): Promise<void>
}

/** Of a page, and of each of its frames and workers. */
const watched = ['Network.enable', 'Runtime.enable', 'Log.enable']
const attach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }

/**
 * Opens a page with the platform's cookie. @param cookie its domain begins with a dot @param signal ends waits
 * @throws {Error} when the browser has ended
 */
async function openPage(
  { devtools }: Chromium,
  record: VisitRecord,
  cookie: { readonly token: string; readonly domain: string },
  signal: AbortSignal,
): Promise<OpenPage> {
  const { browserContextId } = await devtools.send<{ browserContextId: string }>('Target.createBrowserContext')
  const { targetId } = await devtools.send<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
  })
  const { sessionId } = await devtools.send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  const page = <T>(method: string, params: object = {}) => devtools.send<T>(method, params, sessionId)
  const watcher = new PageWatcher(record)
  const sessions = new Set([sessionId])
  const stop = devtools.listen((event) => {
    if (event.sessionId === undefined || !sessions.has(event.sessionId)) return
    if (event.method === 'Target.attachedToTarget') {
      const { sessionId: child } = event.params as { sessionId: string }
      sessions.add(child)
      for (const method of [...watched, 'Runtime.runIfWaitingForDebugger'])
        void devtools.send(method, {}, child).catch(() => undefined)
    } else if (event.method === 'Page.javascriptDialogOpening')
      // A question whether to leave is answered with yes, every other with no.
      void page('Page.handleJavaScriptDialog', { accept: event.params.type === 'beforeunload' }).catch(() => undefined)
    else watcher.take(event)
  })
  for (const method of [...watched, 'Page.enable']) await page(method)
  await page('Target.setAutoAttach', attach)
  await page('Runtime.addBinding', { name: reportBinding })
  await page('Page.addScriptToEvaluateOnNewDocument', { source: reportScript })
  await devtools.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId })
  const { token: value, domain } = cookie
  await page('Network.setCookie', { name: 'spawner_token', value, domain, path: '/', httpOnly: true })
  const untilQuiet = async (limit: number) => {
    const end = performance.now() + limit
    for (let quietSince = performance.now(); performance.now() < end; await wait(50, undefined, { signal })) {
      if (!watcher.isQuiet) quietSince = performance.now()
      if (performance.now() - quietSince >= quietTime) return
    }
  }
  const mouse = { button: 'left', clickCount: 1 }
  return {
    watcher,
    untilQuiet,
    goTo: async (url, limit) => {
      await page('Page.navigate', { url })
      await untilQuiet(limit)
    },
    evaluate: async <T>(expression: string) => {
      const asked = { expression, returnByValue: true, timeout: 5_000 }
      const { result } = await page<{ result: { value?: T } }>('Runtime.evaluate', asked)
      return result.value
    },
    click: async (x, y) => {
      await page('Input.dispatchMouseEvent', { type: 'mousePressed', x, y, ...mouse })
      await page('Input.dispatchMouseEvent', { type: 'mouseReleased', x, y, ...mouse })
    },
    cookies: async () =>
      (await devtools.send<{ cookies: SeenCookie[] }>('Storage.getCookies', { browserContextId })).cookies,
    close: async () => {
      stop()
      await devtools.send('Target.disposeBrowserContext', { browserContextId }).catch(() => undefined)
    },
  }
}

/** Max clicks, and how long the answer to one is waited for, in ms. */
const [maxClicks, answerTime] = [12, 1_500]

interface Clickable {
  readonly label: string
  readonly x: number
  readonly y: number
}

/**
 * Clicks what looks like a control, each once, as a user would who looks around; what ends, removes or signs out is left
 * alone. A click that leads out of the application is followed by a return to its first page.
 * @param limit ms for all clicks
 */
async function clickAround(page: OpenPage, record: VisitRecord, home: string, limit: number): Promise<void> {
  const end = performance.now() + limit
  const done = new Set<string>()
  const start = record.finalUrl
  while (record.clicks < maxClicks && performance.now() < end) {
    if (!((await page.evaluate<string>('location.href')) ?? '').startsWith(home)) {
      if (!start.startsWith(home)) return
      await page.goTo(start, 2 * answerTime)
      continue
    }
    const found = (await page.evaluate<Clickable[]>(clickablesScript)) ?? []
    const next = found.find(({ label }) => !done.has(label))
    if (!next) return
    done.add(next.label)
    record.clicks += 1
    await page.click(next.x, next.y)
    await page.untilQuiet(Math.max(0, Math.min(answerTime, end - performance.now())))
  }
}

const clickablesScript = `(() => {
  const risky = /log ?out|sign ?out|delete|remove|shut ?down|quit|exit|stop|reset|kill|destroy|restart|abmelden|lösch/i
  const all = document.querySelectorAll('a[href], button, [role=button], [role=tab], [role=menuitem], summary, input[type=submit], input[type=button]')
  return [...all].slice(0, 300).flatMap((each) => {
    const { left, top, width, height } = each.getBoundingClientRect()
    const [x, y] = [left + width / 2, top + height / 2]
    const label = (each.innerText || each.title || each.getAttribute('aria-label') || each.value || each.id || each.className || '').toString().trim().slice(0, 60)
    const isShown = width > 0 && height > 0 && x > 0 && y > 0 && x < innerWidth && y < innerHeight
    const isOther = each.tagName === 'A' && (new URL(each.href, location).origin !== location.origin || each.download)
    if (!isShown || isOther || each.disabled || label === '' || risky.test(label)) return []
    const top_ = document.elementFromPoint(x, y)
    return top_ && (each === top_ || each.contains(top_)) ? [{ label: each.tagName + ' ' + label, x, y }] : []
  })
})()`

/** Name of the function by which a page reports what it registers. */
const reportBinding = 'berthTrialReport'

/** Runs in every page before its own scripts: reports service workers, whose refusals no event tells. */
const reportScript = `(() => {
  const container = navigator.serviceWorker
  if (!container) return
  const register = container.register.bind(container)
  container.register = async (script, options) => {
    const seen = { script: new URL(script, location).href, scope: new URL(options?.scope ?? './', new URL(script, location)).href }
    try {
      const registration = await register(script, options)
      ${reportBinding}(JSON.stringify({ ...seen, scope: registration.scope, error: null }))
      return registration
    } catch (error) {
      ${reportBinding}(JSON.stringify({ ...seen, error: String(error.message).slice(0, 300) }))
      throw error
    }
  }
})()`

/** What an event says, as far as it is looked at. */
interface Params {
  readonly requestId?: string
  readonly type?: string
  readonly url?: string
  readonly errorText?: string
  readonly errorMessage?: string
  readonly blockedReason?: string
  readonly canceled?: boolean
  readonly name?: string
  readonly payload?: string
  readonly request?: { readonly url: string }
  readonly redirectResponse?: { readonly url: string; readonly status: number }
  readonly response?: { readonly status: number; readonly mimeType?: string }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
  readonly entry?: { readonly level: string; readonly source: string; readonly text: string; readonly url?: string }
}

/** Turns events of a page, its frames and its workers into a record. */
class PageWatcher {
  readonly #record: VisitRecord
  readonly #requests = new Map<string, SeenRequest>()
  readonly #sockets = new Map<string, SeenSocket>()
  /** Requests under way, and sockets that are not open yet. */
  readonly #pending = new Set<string>()
  /** Whether the browser gave requests up because networks of the machine changed. */
  isDisturbed = false

  constructor(record: VisitRecord) {
    this.#record = record
  }

  get isQuiet(): boolean {
    return this.#pending.size === 0
  }

  take({ method, params: all }: DevtoolsEvent): void {
    const params = all as Params
    const id = params.requestId ?? ''
    switch (method) {
      case 'Network.requestWillBeSent':
        return this.#requested(id, params)
      case 'Network.responseReceived':
        return this.#answered(id, params)
      case 'Network.loadingFinished':
        return void this.#pending.delete(id)
      case 'Network.loadingFailed':
        return this.#failed(id, params)
      case 'Network.webSocketCreated':
        return this.#socketCreated(id, params.url ?? '')
      case 'Network.webSocketHandshakeResponseReceived':
        this.#pending.delete(id)
        return this.#onSocket(id, (socket) => (socket.status = params.response?.status ?? null))
      case 'Network.webSocketClosed':
        return void this.#pending.delete(id)
      case 'Network.webSocketFrameError':
        return this.#onSocket(
          id,
          (socket) => (socket.error = socket.status === 101 ? null : (params.errorMessage ?? null)),
        )
      case 'Runtime.exceptionThrown': {
        const { text = '', exception } = params.exceptionDetails ?? {}
        return this.#error(exception?.description?.split('\n')[0] ?? text)
      }
      case 'Log.entryAdded':
        // Failed requests are seen as such.
        if (params.entry?.level === 'error' && params.entry.source !== 'network') this.#error(params.entry.text)
        return
      case 'Runtime.bindingCalled':
        if (params.name === reportBinding) this.#record.workers.push(JSON.parse(params.payload ?? '') as SeenWorker)
    }
  }

  #requested(id: string, { request, type = '', redirectResponse }: Params): void {
    const url = request?.url ?? ''
    if (/^(data|blob|about|chrome[\w-]*):/.test(url)) return
    if (redirectResponse) this.#record.redirects.push({ from: redirectResponse.url, to: url })
    const seen = { url, type, status: null, mimeType: '', failure: null }
    this.#requests.set(id, seen)
    this.#record.requests.push(seen)
    // Open as long as their page is.
    if (type !== 'EventSource' && type !== 'Ping') this.#pending.add(id)
  }

  #answered(id: string, { response }: Params): void {
    const seen = this.#requests.get(id)
    if (!seen || !response) return
    seen.status = response.status
    seen.mimeType = response.mimeType ?? ''
    if (seen.mimeType === 'text/event-stream') this.#pending.delete(id)
  }

  #failed(id: string, { errorText = '', blockedReason }: Params): void {
    this.#pending.delete(id)
    if (errorText.includes('NETWORK_CHANGED')) this.isDisturbed = true
    const seen = this.#requests.get(id)
    if (seen) seen.failure = [errorText, blockedReason].filter(Boolean).join(', ')
  }

  #socketCreated(id: string, url: string): void {
    const socket = { url, status: null, error: null }
    this.#sockets.set(id, socket)
    this.#pending.add(id)
    this.#record.sockets.push(socket)
  }

  #onSocket(id: string, change: (socket: SeenSocket) => void): void {
    const socket = this.#sockets.get(id)
    if (socket) change(socket)
  }

  #error(text: string): void {
    const line = text.slice(0, 300)
    if (!this.#record.errors.includes(line)) this.#record.errors.push(line)
  }
}

/** A request of a page, its frames and its workers. */
export interface SeenRequest {
  readonly url: string
  /** As DevTools names it: Document, Script, Stylesheet, XHR, Fetch, ... */
  readonly type: string
  /** Null without an answer. */
  status: number | null
  /** Type of its content; empty without an answer. */
  mimeType: string
  /** The browser's word for why there is no answer; null with one. */
  failure: string | null
}

export interface SeenRedirect {
  readonly from: string
  readonly to: string
}

export interface SeenSocket {
  readonly url: string
  /** 101 when it was opened; null when the server refused it without a status. */
  status: number | null
  error: string | null
}

export interface SeenCookie {
  readonly name: string
  readonly domain: string
  readonly path: string
}

/** A service worker that a page registered, or tried to. */
export interface SeenWorker {
  readonly script: string
  readonly scope: string
  /** Why it was refused; null when it was registered. */
  readonly error: string | null
}

/** All that a visit saw. Filled while it lasts. */
export interface VisitRecord {
  readonly requests: SeenRequest[]
  readonly redirects: SeenRedirect[]
  readonly sockets: SeenSocket[]
  readonly cookies: SeenCookie[]
  readonly workers: SeenWorker[]
  /** Uncaught exceptions and errors of the console. */
  readonly errors: string[]
  /** Addresses in attributes of the page, resolved: links, forms, pictures. */
  readonly links: string[]
  /** Where the visit of the first page ended. */
  finalUrl: string
  /** Whether the first page shows nothing at all; false where only HTTP was asked. */
  isEmpty: boolean
  /** Things that were clicked. */
  clicks: number
}

export function newRecord(): VisitRecord {
  return {
    requests: [],
    redirects: [],
    sockets: [],
    cookies: [],
    workers: [],
    errors: [],
    links: [],
    finalUrl: '',
    isEmpty: false,
    clicks: 0,
  }
}
