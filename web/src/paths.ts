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
  apiDocs: '/api/docs',
  admin: '/admin',
  adminUsers: '/admin/users',
  adminContainers: '/admin/containers',
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

export type PagePath = (typeof pages)[keyof typeof pages]

/** Longer than any real path; keeps oversized values out of links and storage. */
const maxNextLength = 2048

/**
 * A path to continue to after signing in: a path of this origin, or undefined when the value is anything else. Refused
 * are other origins in every spelling that browsers understand (`//host`, `/\host`, `/<tab>/host`, `https:`), and the
 * API, whose GET endpoints sign users in: a link must not sign a user in to another account.
 */
export function safeNext(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > maxNextLength) return undefined
  // URL parsers drop control characters, which turns "/\t/host" into "//host".
  if (!/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(value)) return undefined
  const { pathname } = new URL(value, 'http://berth.invalid')
  return pathname.startsWith('//') || leadsToApi(pathname) ? undefined : value
}

/** The server decodes a path before it routes, so `/%61pi` is the API as well. */
function leadsToApi(pathname: string): boolean {
  try {
    return /^\/+api(\/|$)/i.test(decodeURIComponent(pathname))
  } catch {
    return true
  }
}

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
