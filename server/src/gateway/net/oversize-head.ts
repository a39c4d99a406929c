import { forgottenCookies, type CookieSettings } from '../../token-cookies.ts'
import { isFault } from './header-lines.ts'
import { longestRequestHead, readRequestHead, type RequestHead } from './request-head.ts'

/**
 * A head that is too long. A container's page can set so many cookies that no request of that browser to Berth, the sign-out
 * included, is short enough any more, for as long as they live. So the answer makes the browser drop the largest.
 */

/** What is left of the cookies that were seen, in bytes. */
const bytesLeft = 8 * 1024
/** Cookies that only long heads have: nobody loses theirs by a link with a long address. */
const minCookies = longestRequestHead / 2
/** Cookies looked at, and lines of `Set-Cookie`; browsers keep 180 of a site, and take heads of 256 KB. */
const [maxPairs, maxLines] = [400, 600]
/** A name that may stand in `Set-Cookie`; at most so long. */
const nameForm = /^[\x21-\x3a\x3c\x3e-\x7e]{1,256}$/

/** The request line and those header lines that came whole; undefined when they are no request. @param text latin1 */
export function readOversize(text: string): RequestHead | undefined {
  const end = text.lastIndexOf('\r\n')
  const head = end === -1 ? undefined : readRequestHead(`${text.slice(0, end)}\r\n\r\n`)
  return isFault(head) ? undefined : head
}

/**
 * Headers that make the browser drop cookies, the largest first; none when it is not the cookies that are too long. A session
 * of usual size stays. Cookies beyond what was read are dropped all together, by a header that browsers follow with https only;
 * without https the next request tells of them.
 */
export function droppedCookies(
  text: string,
  { target, fields }: RequestHead,
  settings: CookieSettings,
): Record<string, string | readonly string[]> {
  const sizes = cookieSizes(text)
  const sum = [...sizes.values()].reduce((total, size) => total + size, 0)
  if (sum < minCookies) return {}
  const lines: string[] = []
  let left = sum
  for (const [name, size] of [...sizes].toSorted(([, a], [, b]) => b - a)) {
    if (left <= bytesLeft || lines.length >= maxLines) break
    left -= size
    const own = forgottenCookies(name, target, fields.host, settings)
    // A cookie that was set as `Partitioned` is dropped only as such; browsers have these with https.
    lines.push(...own, ...(settings.isSecure ? own.map((line) => `${line}; Partitioned`) : []))
  }
  const isCut = !text.includes('\r\n\r\n')
  const clear = settings.isSecure && isCut ? { 'clear-site-data': '"cookies"' } : undefined
  return { ...clear, 'set-cookie': lines }
}

/** Bytes by name, all cookies of one name together. The last one may be cut off. */
function cookieSizes(text: string): Map<string, number> {
  const sizes = new Map<string, number>()
  const lines = text.split('\r\n').filter((line) => /^cookie:/i.test(line))
  for (const line of lines)
    for (const pair of line.slice('cookie:'.length).split(';', maxPairs)) {
      const name = pair.includes('=') ? pair.slice(0, pair.indexOf('=')).trim() : ''
      if (nameForm.test(name)) sizes.set(name, (sizes.get(name) ?? 0) + pair.length)
    }
  return sizes
}
