/**
 * Every path that the front end answers, and nothing else does. The server imports this list to serve the pages
 * and to keep slugs off them, so this file must stay free of anything that only a browser has.
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
  admin: '/admin',
  adminUsers: '/admin/users',
  adminContainers: '/admin/containers',
  adminAudit: '/admin/audit',
  adminSystem: '/admin/system',
} as const

export type PagePath = (typeof pages)[keyof typeof pages]

/** Longer than any address a browser is sent back to; keeps rubbish out of links and storage. */
const maxNextLength = 2048

/**
 * A place to go on to after signing in: a path of this very origin, or undefined when the value is anything else.
 * Refused are other origins in every spelling that browsers understand (`//host`, `/\host`, `/<tab>/host`, `https:`),
 * and the API, whose GET endpoints sign people in: a link must not make them somebody else.
 */
export function safeNext(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > maxNextLength) return undefined
  // Control characters are dropped by URL parsers, which turns "/\t/host" into "//host".
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

/** Whether a path, its query aside, is one of the front end's own pages. */
export function isPage(path: string): boolean {
  const wanted = path.replace(/[?#].*$/s, '')
  return Object.values<string>(pages).includes(wanted)
}

/** `page` with `?next=` behind it when there is a safe place to go on to, else `page` alone. */
export function withNext(page: PagePath, next: unknown): string {
  const safe = safeNext(next)
  return safe === undefined || safe === pages.home ? page : `${page}?${new URLSearchParams({ next: safe })}`
}
