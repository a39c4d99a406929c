import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endpoints } from '@berth/api/endpoints.ts'
import { languages, type BootData, type BrandingData, type Language, type Notice } from '@berth/api/boot.ts'
import { randomText } from '@berth/gateway/tokens/opaque-secrets.ts'
import { clearTokenCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { message } from '@berth/texts/localized-message.ts'
import { pages, signInPages } from '@berth/web/paths.ts'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { Accounts } from '#/accounts/open-accounts.ts'
import { productName, type Branding, type LegalText } from '#/config/branding.ts'
import type { SessionRenewal } from '#/http/auth/browser-session.ts'
import { secondsLeft } from '#/http/auth/impersonator-session.ts'
import type { LoginCsrf, SameBrowserProof } from '#/http/auth/sign-in-cookies.ts'
import { requestedLanguage } from '#/http/localized-reply.ts'
import { isDocumentNavigation } from '#/http/request-headers.ts'
import type { ImageFile } from '#/machine/image-file.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import type { AddressSecrets } from './address-secrets.ts'
import {
  encodedVariant,
  frontEndFiles,
  imagePath,
  registerAssets,
  registerSecurityText,
  sendAsset,
  sharedFrontEndFiles,
  type Asset,
  type FrontEndFiles,
  type SecurityText,
} from './static-assets.ts'

export interface FrontEndParts {
  /** Folder of the built front end. */
  readonly webDir: string
  readonly authenticator: SessionAuthenticator
  readonly sessionList: Pick<Accounts['sessionList'], 'takeoverOf'>
  readonly cookie: CookieSettings
  readonly renewal: Pick<SessionRenewal, 'keep'>
  readonly loginCsrf: LoginCsrf
  readonly addressSecrets: Pick<AddressSecrets, 'take' | 'open'>
  readonly sameBrowserProof: Pick<SameBrowserProof, 'hasAny' | 'has'>
  readonly verifyLink: Pick<Accounts['verifyLink'], 'addressOf'>
  /** Lifetime of a mailed link, in seconds. */
  readonly linkLifetime: number
  /** How users sign in. */
  readonly signIn: BootData['sign_in']
  readonly contact: string | null
  /** Null: there is no `security.txt`. */
  readonly security: SecurityText | null
  readonly hasGroups: () => boolean
  /** Null: Berth's own look. */
  readonly branding: Branding | null
  /** An image of a template by the name of its file; templates may become others while Berth runs. */
  readonly typeImage: (fileName: string) => ImageFile | undefined
  readonly hasSnapshots: boolean
  readonly hasGitLinks: boolean
  readonly hasSsh: boolean
  readonly environments: 'off' | 'admins' | 'managers'
  readonly hasContainerHosts: boolean
  /** Null where containers cannot be shared. */
  readonly sharing: BootData['sharing']
  /** Of a reader: pages of users who are signed in alone; all others throw. */
  readonly isReader?: true
}

/** Serves the front end: one document for all its pages, one for the reference of the API, and the assets. */
export class FrontEnd {
  readonly #documents: ReadonlyMap<Language, DocumentTemplate>
  readonly #parts: FrontEndParts

  readonly #assets: FrontEndFiles['assets']

  readonly #apiReference: Buffer | null
  /** Made at the first request, because most starts of a process see none. */
  #apiReferenceAsset: Promise<Asset> | undefined

  private constructor({ html, apiReference, assets }: FrontEndFiles, parts: FrontEndParts) {
    const document = brandedDocument(html, parts.branding)
    const name = parts.branding?.name ?? productName
    const textsOf = (language: Language) => [...assets.keys()].find((each) => each.startsWith(textFiles[language]))
    this.#documents = new Map(
      languages.map((language) => [language, inLanguage(withTexts(document, textsOf(language)), language, name)]),
    )
    this.#assets = assets
    this.#apiReference = apiReference
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
    for (const url of Object.values(pages).filter((each) => each !== pages.apiDocs)) {
      server.route({ method: ['GET', 'HEAD'], url, handler: (request, reply) => this.send(request, reply, 200) })
    }
    server.route({
      method: ['GET', 'HEAD'],
      url: pages.apiDocs,
      handler: async (request, reply) => {
        const asset = await this.#apiReferenceFile()
        return asset ? sendAsset(asset, request, reply) : reply.callNotFound()
      },
    })
    // The build made `.br` and `.gz` variants. Documents and API answers stay uncompressed: see web/README.md.
    const logo = this.#parts.branding?.logo
    if (this.#parts.security) registerSecurityText(server, this.#parts.security)
    const assets = new Map([...this.#assets, ...(logo ? [[logo.fileName, imageAsset(logo)] as const] : [])])
    registerAssets(server, (name) => {
      const image = assets.has(name) ? undefined : this.#parts.typeImage(name)
      return image ? imageAsset(image) : assets.get(name)
    })
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
      has_git_links: isKnown(session) && this.#parts.hasGitLinks,
      has_ssh: isKnown(session) && this.#parts.hasSsh,
      has_environments: isKnown(session) && this.#mayBuild(session?.user?.isAdmin ?? false),
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
        ...(isKnown(session) && status === 200 && pathOf(request) === pages.home && listBegins),
      })
      .type('text/html; charset=utf-8')
      .send(this.#filled(language, nonce, boot, request.now))
  }

  async #apiReferenceFile(): Promise<Asset | undefined> {
    if (this.#apiReference === null) return undefined
    this.#apiReferenceAsset ??= apiReferenceAsset(this.#apiReference, this.#parts.branding)
    return this.#apiReferenceAsset
  }

  /** Managers of groups are told by their group's page; the API decides. */
  #mayBuild(isAdmin: boolean): boolean {
    const { environments } = this.#parts
    return environments === 'managers' || (environments === 'admins' && isAdmin)
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
/** How the names begin of the files that the texts of a language are built into. */
const textFiles: Readonly<Record<Language, string>> = { en: 'english-', de: 'german-' }

/** Names the file of the texts, so that it comes beside the scripts and not after them. */
const withTexts = (document: string, file: string | undefined) =>
  file === undefined
    ? document
    : document.replace(
        '<link rel="stylesheet"',
        `<link rel="modulepreload" crossorigin href="/assets/${file}" nonce="__BERTH_NONCE__">$&`,
      )

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

/** The dashboard's list is asked for beside the scripts, and not after them: a round trip less on a slow line. */
const listBegins = { link: `<${endpoints.listContainers.path}>; rel=preload; as=fetch; crossorigin=anonymous` }

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

const htmlEntities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string) => text.replace(/[&<>"]/g, (character) => htmlEntities[character] ?? character)

/**
 * The front end's document with name, logo and colours of the installation, so that the first paint has them. The
 * colours come last in the head, with the nonce of the response.
 * @param html as the build made it
 */
function brandedDocument(html: string, branding: Branding | null): string {
  if (!branding) return html
  const { name, logo, theme } = branding
  const [, icon] = /<link rel="icon"[^>]*href="([^"]+)"/.exec(html) ?? []
  const withLogo =
    logo && icon !== undefined
      ? html.replaceAll(`"${icon}"`, `"${imagePath(logo)}"`).replace('type="image/svg+xml"', `type="${logo.mediaType}"`)
      : html
  const named =
    name === null
      ? withLogo
      : withLogo
          .replace(`<title>${productName}</title>`, () => `<title>${escaped(name)}</title>`)
          .replace(`>${productName}</a>`, () => `>${escaped(name)}</a>`)
  const noticed = branding.notices.length === 0 ? named : named.replace('</header>', `</header>${noticesPlaceholder}`)
  return theme === null
    ? noticed
    : noticed.replace('</head>', `<style nonce="__BERTH_NONCE__">${theme.css}</style></head>`)
}

/**
 * The reference of the API as a file. It has neither a secret nor anything of its reader, so that it travels compressed; no script runs in
 * it, and its styles are those of the build and the colours of the installation. Notices stand on the other pages.
 */
async function apiReferenceAsset(gzipped: Buffer, branding: Branding | null): Promise<Asset> {
  const html = (await promisify(gunzip)(gzipped)).toString()
  const document = brandedDocument(html, branding && { ...branding, notices: [] }).replace(
    ' nonce="__BERTH_NONCE__"',
    '',
  )
  const colours = branding?.theme ? ` 'sha256-${createHash('sha256').update(branding.theme.css).digest('base64')}'` : ''
  const headers = {
    ...documentHeaders,
    ...contentLanguage('en'),
    vary: 'Accept-Encoding',
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'content-security-policy': `default-src 'none'; style-src 'self'${colours}${otherSources}`,
  }
  const bytes = Buffer.from(document)
  const compressed = await promisify(gzip)(bytes)
  return new Map([
    ['identity', encodedVariant(bytes, 'identity', headers)],
    ['gzip', encodedVariant(compressed, 'gzip', headers)],
  ])
}

/** Where the notices of a moment stand, in the document's language. */
export const noticesPlaceholder = '__BERTH_NOTICES__'

/** The notices of a moment, as the page draws them: the first paint has them, and nothing moves when the script has come. */
function noticesHtml({ notices }: Branding, language: Language, now: Date): string {
  const isCurrent = ({ from, until }: Notice) =>
    (from === null || Date.parse(from) <= now.getTime()) && (until === null || Date.parse(until) > now.getTime())
  return notices
    .filter(isCurrent)
    .map(({ text }) => `<p class="notice">${escaped(text[language])}</p>`)
    .join('')
}

/** What the pages need of the branding. @param now notices that have ended are left out */
function brandingData(branding: Branding, now: Date): BrandingData {
  const { name, logo, imprint, privacy, notices } = branding
  return {
    name,
    logo: logo && imagePath(logo),
    imprint: imprint && addressOf(imprint, pages.imprint),
    privacy: privacy && addressOf(privacy, pages.privacy),
    notices: notices.filter(({ until }) => until === null || Date.parse(until) > now.getTime()),
  }
}

const addressOf = (text: LegalText, page: string) => ('url' in text ? text.url : page)

/**
 * An image of the operator's as a file below `/assets/`. The browser draws an image of any origin without running anything in it; the
 * policy is for who opens its address: no script of an SVG image may run on this origin, whatever the check missed.
 */
function imageAsset({ bytes, mediaType, fileName }: ImageFile): Asset {
  const headers = {
    'content-type': mediaType,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    // Pages at the hosts of containers show it, too.
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    etag: `"${fileName}"`,
    vary: 'Accept-Encoding',
  }
  return new Map([['identity', { bytes, headers }]])
}

/** Values for the placeholders of the document, each as it stands in HTML. */
export interface DocumentValues {
  /** CSP nonce of the response. */
  readonly nonce: string
  readonly notices: string
  readonly boot: string
}

const placeholders: ReadonlyMap<string, keyof DocumentValues> = new Map([
  ['__BERTH_NONCE__', 'nonce'],
  [noticesPlaceholder, 'notices'],
  ['__BERTH_BOOT__', 'boot'],
])
const anyPlaceholder = new RegExp(`(${[...placeholders.keys()].join('|')})`)

/**
 * The document of the front end, split at its placeholders once: to look for them at each request took longer than to put the
 * parts together.
 */
export class DocumentTemplate {
  readonly #parts: readonly { readonly text: string; readonly value: keyof DocumentValues | undefined }[]

  constructor(html: string) {
    this.#parts = html.split(anyPlaceholder).map((text) => ({ text, value: placeholders.get(text) }))
  }

  /** The document with these values; what looks like a placeholder in a value stays as it is. */
  filled(values: DocumentValues): string {
    let document = ''
    for (const { text, value } of this.#parts) document += value === undefined ? text : values[value]
    return document
  }
}
