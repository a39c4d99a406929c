import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { endpoints } from '@berth/api/endpoints.ts'
import { openLinkPath, parseOpenLink, type OpenLink } from '@berth/api/open-link.ts'
import { clearTokenCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { pages } from '@berth/web/paths.ts'
import { safeNext } from '@berth/web/safe-next.ts'
import type { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import { isAddress, type Containers } from '#/containers/open-containers.ts'
import type { SessionRenewal } from '#/http/auth/browser-session.ts'
import type { User } from '#/store/users.ts'
import { filesOfLink, type GitLink } from '#/templates/starter-files/link-files.ts'
import type { Template } from '#/templates/template.ts'

export interface OpenLinkParts {
  readonly authenticator: Pick<SessionAuthenticator, 'authenticate'>
  readonly renewal: Pick<SessionRenewal, 'keep'>
  readonly cookie: CookieSettings
  readonly containers: Pick<Containers, 'rules' | 'routeSync' | 'linkFiles'>
  readonly spawnerUrl: string
}

/**
 * `GET /open/{type}/{path}`: one address for all users, which leads each one who is signed in to their own container of this type,
 * and to this path in it. It launches nothing by itself and sets nothing but the cookies of a session: a running container
 * is opened, every other one is launched by the page that a browser is led to.
 */
export class OpenLinks {
  readonly #parts: OpenLinkParts

  constructor(parts: OpenLinkParts) {
    this.#parts = parts
  }

  register(server: FastifyInstance): void {
    for (const url of [openLinkPath, `${openLinkPath}/*`])
      server.route({ method: ['GET', 'HEAD'], url, handler: (request, reply) => this.#lead(request, reply) })
  }

  async #lead(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { authenticator, renewal, cookie } = this.#parts
    const { session, isTossed } = await authenticator.authenticate(request.headers, request.now)
    if (session) await renewal.keep(session, request, reply)
    if (isTossed) void reply.header('set-cookie', clearTokenCookies(request.url, request.headers.host, cookie))
    const location =
      session?.user && !session.scopes ? await this.#targetFor(session.user, request.url) : signInFor(request.url)
    return reply.headers(headers).redirect(location, 302)
  }

  async #targetFor(user: User, url: string): Promise<string> {
    const link = parseOpenLink(url)
    const { rules, routeSync, linkFiles } = this.#parts.containers
    const visible = link ? await rules.visible(user) : []
    const template = visible.find(({ type }) => type === link?.type)
    if (!link || !template) return dashboardWith('unknown')
    const { files, query } = filesIn(link.query)
    const path = pathIn(user, template, { ...link, query })
    if (files) {
      const allowed = filesOfLink(files, linkFiles.hosts)
      if (typeof allowed === 'string') return dashboardWith(allowed)
      const { git, ref, to } = files
      return launchPage({
        type: template.type,
        next: path,
        git,
        ...(ref === null ? {} : { ref }),
        ...(to === '' ? {} : { to }),
      })
    }
    const known = routeSync.get({ userId: user.id, type: template.type })
    const where = known && !known.isBlocked && !user.isBlocked ? routeSync.routeOf(known)?.where : undefined
    if (where && isAddress(where)) return this.#parts.spawnerUrl + path
    return launchPage({ type: template.type, next: path })
  }
}

/** The page that launches a container; with files of a repository it asks before. */
const launchPage = (query: Record<string, string>) => `${pages.launch}?${new URLSearchParams(query)}`

/** The dashboard says that the link leads nowhere, and not whether there is such a type for others. */
const dashboardWith = (link: 'unknown' | 'host' | 'link') => `${pages.home}?${new URLSearchParams({ link })}`

/** Takes what a link says of a repository out of its query; the rest is for the application, as it was sent. */
function filesIn(query: string): { files: GitLink | undefined; query: string } {
  const given = new URLSearchParams(query)
  const git = given.get('git')
  if (git === null) return { files: undefined, query }
  const others = query
    .slice(1)
    .split('&')
    .filter((each) => !/^(?:git|ref|to)(?:=|$)/.test(each))
  const rest = others.join('&')
  const files = { git, ref: given.get('ref') || null, to: given.get('to') ?? '' }
  return { files, query: rest === '' ? '' : `?${rest}` }
}

/** What is led to depends on who asks. */
const headers = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', vary: 'Cookie, Authorization' }

/** By the session of the browser, or the login page, and back here. */
function signInFor(url: string): string {
  const next = safeNext(url)
  return `${endpoints.continueSession.path}?${new URLSearchParams({ next: next ?? pages.home })}`
}

function pathIn({ slug }: User, { type, openPath }: Template, { rest, query }: OpenLink): string {
  const below = rest === '' && query === '' ? openPath : rest + query
  return `/${containerPrefix(slug, type)}/${below}`
}
