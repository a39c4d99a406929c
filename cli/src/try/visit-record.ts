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
