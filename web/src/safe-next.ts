/** Longer than any real path; keeps oversized values out of links and storage. */
const maxNextLength = 2048

/**
 * Refuses open redirects: a path to continue to after signing in, a path of this origin, or undefined when the value is
 * anything else. Refused are other origins in every spelling that browsers understand (`//host`, `/\host`,
 * `/<tab>/host`, `https:`), and the API, whose GET endpoints sign users in: a link must not sign a user in to another
 * account.
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
