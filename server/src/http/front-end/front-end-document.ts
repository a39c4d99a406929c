import { languages, type BootData, type Language } from '@berth/api/boot.ts'
import { pages, signInPages } from '@berth/web/paths.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SessionList } from '#/accounts/sessions/session-list.ts'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { VerifyLink } from '#/accounts/sign-up/verify-link.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import { secondsLeft } from '../auth/impersonator-session.ts'
import { productName, type Branding } from '#/config/branding.ts'
import type { SameBrowserProof } from '../auth/same-browser-proof.ts'
import type { SessionRenewal } from '../auth/session-renewal.ts'
import type { AddressSecrets } from './address-secrets.ts'
import { brandedDocument, brandingData, logoAsset, noticesHtml } from './branded-document.ts'
import { DocumentTemplate } from './document-template.ts'
import { frontEndFiles, sharedFrontEndFiles, type FrontEndFiles } from './front-end-files.ts'
import { registerAssets } from './static-assets.ts'
import { isDocumentNavigation } from '#/http/fetch-metadata.ts'
import { requestedLanguage } from '../localized-reply.ts'
import type { LoginCsrf } from '../auth/login-csrf.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import { clearTokenCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { randomText } from '@berth/gateway/tokens/opaque-secrets.ts'

export interface FrontEndParts {
  /** Folder of the built front end. */
  readonly webDir: string
  readonly authenticator: SessionAuthenticator
  readonly sessionList: Pick<SessionList, 'takeoverOf'>
  readonly cookie: CookieSettings
  readonly renewal: Pick<SessionRenewal, 'keep'>
  readonly loginCsrf: LoginCsrf
  readonly addressSecrets: Pick<AddressSecrets, 'take' | 'open'>
  readonly sameBrowserProof: Pick<SameBrowserProof, 'hasAny' | 'has'>
  readonly verifyLink: Pick<VerifyLink, 'addressOf'>
  /** Lifetime of a mailed link, in seconds. */
  readonly linkLifetime: number
  /** How users sign in. */
  readonly signIn: BootData['sign_in']
  /** Contact for help. */
  readonly contact: string | null
  readonly hasGroups: () => boolean
  /** Null: Berth's own look. */
  readonly branding: Branding | null
  readonly hasSnapshots: boolean
  readonly hasContainerHosts: boolean
  /** Null where containers cannot be shared. */
  readonly sharing: BootData['sharing']
  /** Of a reader: pages of users who are signed in alone; all others throw. */
  readonly isReader?: true
}

/** Serves the front end: one document for all its pages, and its assets. */
export class FrontEnd {
  readonly #documents: ReadonlyMap<Language, DocumentTemplate>
  readonly #parts: FrontEndParts

  readonly #assets: FrontEndFiles['assets']

  private constructor({ html, assets }: FrontEndFiles, parts: FrontEndParts) {
    const document = brandedDocument(html, parts.branding)
    const name = parts.branding?.name ?? productName
    this.#documents = new Map(languages.map((language) => [language, inLanguage(document, language, name)]))
    this.#assets = assets
    this.#parts = parts
  }

  /** @throws when the front end is not built */
  static async load(parts: FrontEndParts): Promise<FrontEnd> {
    const files = parts.isReader ? await sharedFrontEndFiles(parts.webDir) : await frontEndFiles(parts.webDir)
    return new FrontEnd(files, parts)
  }

  /** Of pages, scripts, styles and images. */
  get paths(): string[] {
    return [...Object.values(pages), ...[...this.#assets.keys()].map((name) => `/assets/${name}`)]
  }

  register(server: FastifyInstance): void {
    for (const url of Object.values(pages)) {
      server.route({ method: ['GET', 'HEAD'], url, handler: (request, reply) => this.send(request, reply, 200) })
    }
    // The build made `.br` and `.gz` variants. Documents and API answers stay uncompressed: see decision 030.
    const logo = this.#parts.branding?.logo
    registerAssets(server, new Map([...this.#assets, ...(logo ? [logoAsset(logo)] : [])]))
  }

  /**
   * Sends the document with the data of this request: the session, and the CSRF tokens of its page. A navigation to an address
   * with a secret in it is redirected to the same page without.
   */
  async send(request: FastifyRequest, reply: FastifyReply, status: number): Promise<FastifyReply> {
    const { authenticator, sessionList, addressSecrets } = this.#parts
    const clean = addressSecrets.take(request)
    if (clean) {
      if (clean.setCookies.length > 0) void reply.header('set-cookie', clean.setCookies)
      return reply.headers(documentHeaders).redirect(clean.location, 302)
    }
    const { session, isTossed, candidates } = await authenticator.authenticate(request.headers, request.now)
    if (this.#parts.isReader && !session?.user) throw new Error('the leader receives visitors')
    if (session) await this.#parts.renewal.keep(session, request, reply)
    const known = session ?? (await authenticator.endedTakeover(request.headers, candidates))
    const takeover = known ? await sessionList.takeoverOf(known.claims) : null
    if (isTossed)
      void reply.header('set-cookie', clearTokenCookies(request.url, request.headers.host, this.#parts.cookie))
    const language = requestedLanguage(request)
    const nonce = randomText(16, 'base64')
    const visit =
      isDocumentNavigation(request.headers) && signsIn(request, session)
        ? this.#parts.loginCsrf.issue(request.headers)
        : undefined
    if (visit?.setCookie) void reply.header('set-cookie', visit.setCookie)
    const link = addressSecrets.open(request, !isKnown(session))
    if (link.setCookies.length > 0) void reply.header('set-cookie', link.setCookies)
    const boot: BootData = {
      visit: visit?.proof ?? null,
      csrf: known && isDocumentNavigation(request.headers) ? authenticator.csrfToken(known.claims) : null,
      signed_in: isKnown(session),
      token_lifetime: session?.claims.isRenewable ? secondsLeft(session.claims.expiresAt, request.now) : null,
      email: session?.user?.email ?? null,
      is_admin: (session?.user?.isAdmin ?? false) && takeover === null,
      language,
      has_groups: isKnown(session) && this.#parts.hasGroups(),
      sharing: isKnown(session) ? this.#parts.sharing : null,
      has_snapshots: isKnown(session) && this.#parts.hasSnapshots,
      has_container_hosts: this.#parts.hasContainerHosts,
      contact: this.#parts.contact,
      ...(this.#parts.branding && { branding: brandingData(this.#parts.branding, request.now) }),
      acting: takeover && { by: takeover.by, until: takeover.until.toISOString() },
      link_secret: link.secret,
      asked_here: await this.#isSameBrowser(request, link.secret),
      now: request.now.toISOString(),
      link_lifetime: this.#parts.linkLifetime,
      sign_in: this.#parts.signIn,
    }
    return reply
      .status(status)
      .headers({
        ...documentHeaders,
        ...contentLanguage(language),
        'content-security-policy': contentSecurityPolicy(nonce),
      })
      .type('text/html; charset=utf-8')
      .send(this.#filled(language, nonce, boot, request.now))
  }

  /** Checks the link without using it up: the page that opens does that. */
  async #isSameBrowser(request: FastifyRequest, token: string | null): Promise<boolean> {
    const { headers, now } = request
    const { sameBrowserProof, verifyLink } = this.#parts
    const purpose = purposes[pathOf(request)]
    if (!purpose || token === null || !sameBrowserProof.hasAny(headers, now)) return false
    const email = await verifyLink.addressOf(token, purpose, now)
    return email !== undefined && sameBrowserProof.has(headers, email, now)
  }

  #filled(language: Language, nonce: string, boot: BootData, now: Date): string {
    const { branding } = this.#parts
    const notices = branding ? noticesHtml(branding, language, now) : ''
    return this.#documents.get(language)?.filled({ nonce, notices, boot: scriptSafe(boot) }) ?? ''
  }
}

/** The document with what depends on the language alone, so that no request formats it. */
const inLanguage = (document: string, language: Language, product: string) =>
  new DocumentTemplate(
    document
      .replace('__BERTH_LANGUAGE__', language)
      .replace('__BERTH_NO_SCRIPT__', () => localize(language, message('pages.noScript', { product }))),
  )

/** Whether users sign in, or request a link, on this page; that is every page while they are not signed in. */
const signsIn = (request: FastifyRequest, session: Session | undefined) =>
  signInPages.includes(pathOf(request)) || (pathOf(request) === pages.home && !isKnown(session))
/** Required purpose of the link that leads to a page. */
const purposes: Readonly<Record<string, LinkPurpose | undefined>> = {
  [pages.verifyLogin]: 'login',
  [pages.verifySignup]: 'signup',
}
const pathOf = ({ url }: FastifyRequest) => url.replace(/[?#].*$/s, '')

const isKnown = (session: Session | undefined) => session?.user !== undefined

/**
 * `'self'` would allow scripts from every container, which share our origin; only scripts with this response's nonce
 * run, so that markup that was injected runs none (cross-site scripting, XSS). No page may show ours in a frame
 * (clickjacking). COOP separates windows that a container's page opened or was opened by.
 */
const documentHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  vary: 'Accept-Language, Cookie, Authorization, Sec-Fetch-Mode, Sec-Fetch-Dest, Service-Worker-Navigation-Preload',
}

/** What follows the nonce of the styles. */
const otherSources = [
  '',
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Content-Security-Policy of the front end's documents. @param nonce of this response */
export const contentSecurityPolicy = (nonce: string) =>
  `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'nonce-${nonce}'${otherSources}`

/** JSON inside a script element must not be able to end it. */
function scriptSafe(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes('<') ? text.replaceAll('<', '\\u003c') : text
}
