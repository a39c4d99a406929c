import { randomBytes } from 'node:crypto'
import { openedLinkParameter, pages, secretParameters, type SecretPage } from '@berth/web/paths.ts'
import type { FastifyRequest } from 'fastify'
import type { Seal } from '#/machine/seal.ts'
import { refusals } from '#/refusals/errors.ts'
import { attemptCookieNames, attemptDigits, cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import type { LoginCsrf } from '#/http/auth/sign-in-cookies.ts'
import { isDocumentNavigation, isPrefetch } from '#/http/request-headers.ts'

/** Max length of a secret that is kept, in characters; tokens have 52, and join codes at most 40. */
const maxSecret = 128
/** Links that one browser may have open on a page; of more the oldest are forgotten. */
const maxKept = 5
const idForm = new RegExp(`^[\\da-f]{${attemptDigits}}$`)

/** How long a browser keeps a secret, in seconds: from the redirect to the document that it leads to. */
const lifetime = 60
/** The same for a join code, in seconds: its document may have to wait for a sign-in, as long as a return path is kept. */
const joinLifetime = 60 * 60

export interface AddressSecretsParts {
  readonly seal: Pick<Seal, 'close' | 'open'>
  readonly settings: CookieSettings
  readonly loginCsrf: Pick<LoginCsrf, 'browserIdOf' | 'identifyBrowser' | 'forget'>
}

interface Kept {
  readonly secret: string
  /** ms since 1970 */
  readonly ends: number
}

/** Where a request is sent on to, without the secret of its address. */
export interface CleanAddress {
  /** Path and query. */
  readonly location: string
  readonly setCookies: readonly string[]
}

/** The secret of the link that a document was opened by. */
export interface OpenedLink {
  readonly secret: string | null
  readonly setCookies: readonly string[]
}

/**
 * Takes secrets out of the addresses of pages before a document has such an address. Pages of containers share the origin of
 * the front end, and a service worker sees the address by which each window of its origin was opened (`clients.matchAll`).
 * The navigation is redirected, and the secret passes in a cookie that no script can read; the document of the redirect
 * contains it, as it contains the CSRF token, and its response removes the cookie.
 *
 * A cookie is sealed for the browser that it was set in, so that no page can set one that was made for another link. Each
 * link has a cookie of its own, which its document names by a random id, so that another link that is opened at the same
 * moment does not take its place.
 */
export class AddressSecrets {
  readonly #parts: AddressSecretsParts
  readonly #prefix: string

  constructor(parts: AddressSecretsParts) {
    this.#parts = parts
    this.#prefix = `${parts.settings.isSecure ? '__Http-' : ''}spawner_link_`
  }

  /**
   * The clean address of a request for a page that has a secret in its address; undefined when there is none. A frame, a
   * script and other requests of browsers that are no navigation of a window get no cookie. Clients that send no
   * `Sec-Fetch-Dest` (programs, browsers on plain http) cannot prove later that a document of ours asks: for them the address
   * stays as it is.
   * @throws {Refusal} 400 prefetched: the browser asks again when a person opens the link
   */
  take(request: FastifyRequest): CleanAddress | undefined {
    const page = secretPageOf(request.url)
    if (page === undefined || !mayHaveSecret(request) || request.headers['sec-fetch-dest'] === undefined)
      return undefined
    const query = queryOf(request.url)
    const name = secretParameters[page]
    const [secret = '', ...more] = query.getAll(name)
    if (secret === '' && more.length === 0) return undefined
    if (isPrefetch(request.headers)) throw refusals.prefetched()
    query.delete(name)
    query.delete(openedLinkParameter)
    const isKept = request.method === 'GET' && isDocumentNavigation(request.headers)
    const isSound = more.length === 0 && secret.length <= maxSecret
    const kept = isKept && isSound ? this.#keep(page, secret, request) : undefined
    if (kept) query.set(openedLinkParameter, kept.id)
    return { location: query.size > 0 ? `${page}?${query}` : page, setCookies: kept?.setCookies ?? [] }
  }

  /**
   * The secret of the link by which this document was opened.
   * @param mayWait the document asks its user to sign in first, and is opened again afterwards: the secret is kept until then
   */
  open(request: FastifyRequest, mayWait: boolean): OpenedLink {
    const page = secretPageOf(request.url)
    const { headers, now } = request
    if (page === undefined || !request.url.includes(`${openedLinkParameter}=`)) return none
    if (request.method !== 'GET' || !isDocumentNavigation(headers) || isPrefetch(headers)) return none
    const id = queryOf(request.url).get(openedLinkParameter) ?? ''
    if (!idForm.test(id)) return none
    const name = this.#prefix + id
    const values = new Set(cookieValues(headers.cookie, name))
    if (values.size === 0 || (mayWait && page === pages.groups)) return none
    const secret = this.#read(contextOf(name, page, this.#parts.loginCsrf.browserIdOf(headers)), [...values], now)
    // Cookies that a container's page set in place of the visit's would make every link fail for as long as they last.
    const tossed = secret === undefined ? this.#parts.loginCsrf.forget(request.url, headers) : []
    return { secret: secret ?? null, setCookies: [this.#line(name, '', page, 0), ...tossed] }
  }

  #keep(page: SecretPage, secret: string, { headers, now }: FastifyRequest): { id: string; setCookies: string[] } {
    const { browserId, setCookie } = this.#parts.loginCsrf.identifyBrowser(headers)
    const id = randomBytes(attemptDigits / 2).toString('hex')
    const name = this.#prefix + id
    const maxAge = page === pages.groups ? joinLifetime : lifetime
    const kept: Kept = { secret, ends: now.getTime() + maxAge * 1_000 }
    const value = this.#parts.seal.close(JSON.stringify(kept), contextOf(name, page, browserId))
    const outdated = attemptCookieNames(headers.cookie ?? '', this.#prefix).slice(0, 1 - maxKept)
    const setCookies = [
      ...(setCookie === undefined ? [] : [setCookie]),
      this.#line(name, value, page, maxAge),
      ...outdated.map((each) => this.#line(each, '', page, 0)),
    ]
    return { id, setCookies }
  }

  /** Of several different values of a name a page tossed some in: none counts. */
  #read(context: string, [value, ...more]: readonly string[], now: Date): string | undefined {
    if (value === undefined || more.length > 0) return undefined
    const text = this.#parts.seal.open(value, context)
    const kept = text === undefined ? undefined : (JSON.parse(text) as Kept)
    return kept && kept.ends > now.getTime() ? kept.secret : undefined
  }

  /** Sent to this page alone, never to an app. Lax: a link of a mail that is read in the browser comes from another site. */
  #line(name: string, value: string, page: SecretPage, maxAge: number): string {
    const secure = this.#parts.settings.isSecure ? '; Secure' : ''
    return `${name}=${value}; Path=${page}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
  }
}

const none: OpenedLink = { secret: null, setCookies: [] }

/** No cookie was sealed without a browser's id. */
const contextOf = (name: string, page: SecretPage, browserId: string | undefined) =>
  `${name} ${page} ${browserId ?? ''}`

/** Whether a request may be about the secret of a link, so far as its address says. */
export const mayHaveSecret = ({ url }: Pick<FastifyRequest, 'url'>) =>
  secretPageOf(url) !== undefined && url.includes('?')

/** The front end ignores a slash at the end of a path. */
function secretPageOf(url: string): SecretPage | undefined {
  const path = url.replace(/[?#].*$/s, '').replace(/(?<=.)\/+$/, '')
  return Object.hasOwn(secretParameters, path) ? (path as SecretPage) : undefined
}

const queryOf = (url: string) => new URLSearchParams(url.slice(url.indexOf('?')))
