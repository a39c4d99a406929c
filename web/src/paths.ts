import { safeNext } from './safe-next.ts'

/**
 * Every path that the front end answers. The server imports this list to serve the pages and to reserve their names as
 * slugs, so this file must not use anything that only a browser has.
 */
export const pages = {
  home: '/',
  login: '/login',
  signUp: '/signup',
  checkMail: '/check-mail',
  verifySignup: '/verify-signup',
  verifyLogin: '/verify-login',
  launch: '/launch',
  sessions: '/sessions',
  tokens: '/tokens',
  sshKeys: '/ssh-keys',
  data: '/account/data',
  groups: '/groups',
  groupMembers: '/groups/members',
  sharing: '/sharing',
  snapshots: '/snapshots',
  environments: '/environments',
  archive: '/archive',
  apiDocs: '/api/docs',
  imprint: '/help/imprint',
  privacy: '/help/privacy',
  admin: '/admin',
  adminUsers: '/admin/users',
  adminContainers: '/admin/containers',
  adminGroups: '/admin/groups',
  adminTermEnd: '/admin/groups/term-end',
  adminTemplates: '/admin/templates',
  adminUsage: '/admin/usage',
  adminAudit: '/admin/audit',
  adminTokens: '/admin/tokens',
  adminSystem: '/admin/system',
} as const

/** Pages on which users sign in, or request a link. */
export const signInPages: readonly string[] = [
  pages.login,
  pages.signUp,
  pages.checkMail,
  pages.verifyLogin,
  pages.verifySignup,
]

/**
 * Pages that links with a secret lead to, and the parameter that it is in: tokens of magic links and of archives, join
 * codes. The server takes it out of the address of a navigation before there is a document.
 */
export const secretParameters = {
  [pages.verifyLogin]: 'token',
  [pages.verifySignup]: 'token',
  [pages.archive]: 'token',
  [pages.groups]: 'code',
} as const
export type SecretPage = keyof typeof secretParameters

/**
 * Parameter that stands in the place of the secret: a random id of the cookie that the secret is in. It is no secret.
 */
export const openedLinkParameter = 'link'

/** Pages that every visitor may read: none of them leads to a sign-in. */
export const publicPages: readonly string[] = [pages.imprint, pages.privacy, pages.apiDocs, pages.archive]

export type PagePath = (typeof pages)[keyof typeof pages]

/** Whether a path, without its query, is one of the front end's own pages. */
export function isPage(path: string): boolean {
  const wanted = path.replace(/[?#].*$/s, '')
  return Object.values<string>(pages).includes(wanted)
}

/** `page` with `?next=` when there is a safe path to continue to, else `page` alone. */
export function withNext(page: PagePath, next: unknown): string {
  const safe = safeNext(next)
  return safe === undefined || safe === pages.home ? page : `${page}?${new URLSearchParams({ next: safe })}`
}

/**
 * Where a sign-in on this page leads: to `next` of a page for signing in, and to every other page itself, which is
 * shown to users who are signed in. A link to join a group keeps its code so.
 * @param path of the browser @returns undefined when it leads to the start page
 */
export function signInTarget(path: string, query: URLSearchParams): string | undefined {
  const page = path.replace(/(?<=.)\/+$/, '')
  if (page === pages.home || signInPages.includes(page)) return safeNext(query.get('next'))
  return safeNext(query.size === 0 ? page : `${page}?${query}`)
}

/**
 * What a page belongs to. Pages for administrators are one section: bulk jobs and their messages go on while an
 * administrator changes between them. Every other page is alone.
 * @param path without a slash at the end
 */
export const sectionOf = (path: string): string =>
  path === pages.admin || path.startsWith(`${pages.admin}/`) ? pages.admin : path
