import { clearCookies, type CookieSettings } from '#/tokens/clear-cookies.ts'
import { isFault } from './http-fault.ts'
import { maxRequestHead, readRequestHead, type RequestHead } from './request-head.ts'

/**
 * A head that is too long. A container's page can set so many cookies that no request of that browser to Berth, the sign-out
 * included, is short enough any more, for as long as they live. So the answer makes the browser drop the largest.
 */

/** What is left of the cookies that were seen, in bytes. */
const maxCookieBytesKept = 8 * 1024
/** Min bytes of cookies: a link with a long address must not drop a user's cookies. */
const minCookies = maxRequestHead / 2
/** Cookies looked at; browsers keep 180 of a site. */
const maxPairs = 400
/** `Set-Cookie` lines of one answer, and their characters: writing more takes long. The next requests drop the rest. */
const [maxLines, maxText] = [60, 16 * 1024]
/** A name that may stand in `Set-Cookie`; at most so long. */
const nameForm = /^[\x21-\x3a\x3c\x3e-\x7e]{1,256}$/

/** The request line and those header lines that came whole; undefined when they are no request. @param text latin1 */
export function readOversizedHead(text: string): RequestHead | undefined {
  // It may have come whole, with more behind it.
  const whole = text.indexOf('\r\n\r\n')
  const end = whole === -1 ? text.lastIndexOf('\r\n') : whole
  const head = end === -1 ? undefined : readRequestHead(`${text.slice(0, end)}\r\n\r\n`)
  return isFault(head) ? undefined : head
}

/**
 * Headers that make the browser drop cookies, the largest first; none when it is not the cookies that are too long. A session
 * of usual size stays. Cookies beyond what was read are dropped all together, by a header that browsers follow with https only;
 * without https the next request tells of them.
 */
export function dropLargestCookies(
  text: string,
  { target, fields }: RequestHead,
  settings: CookieSettings,
): Record<string, string | readonly string[]> {
  const sizes = cookieSizes(text)
  const sum = [...sizes.values()].reduce((total, size) => total + size, 0)
  if (sum < minCookies) return {}
  const lines: string[] = []
  const room = { lines: maxLines, text: maxText }
  let left = sum
  for (const [name, size] of [...sizes].toSorted(([, a], [, b]) => b - a)) {
    if (left <= maxCookieBytesKept || room.lines === 0) break
    left -= size
    lines.push(...fitting(forgottenLines(name, target, fields.host, settings), room))
  }
  const isCut = !text.includes('\r\n\r\n')
  const clear = settings.isSecure && isCut ? { 'clear-site-data': '"cookies"' } : undefined
  return { ...clear, 'set-cookie': lines }
}

/** A cookie that was set as `Partitioned` is dropped only as such; browsers have these with https. */
function forgottenLines(name: string, target: string, host: string | undefined, settings: CookieSettings): string[] {
  const lines = clearCookies(name, target, host, settings)
  return settings.isSecure ? lines.flatMap((line) => [line, `${line}; Partitioned`]) : lines
}

/**
 * The lines that there is room for, which they take up. Where not all fit they begin anywhere: the browser sends the cookie
 * again when the right line was not among them, and some request of many is answered with it.
 */
function fitting(lines: readonly string[], room: { lines: number; text: number }): string[] {
  const isAll = lines.length <= room.lines && lines.reduce((sum, { length }) => sum + length, 0) <= room.text
  const from = isAll ? 0 : Math.floor(Math.random() * lines.length)
  const taken: string[] = []
  for (const line of [...lines.slice(from), ...lines.slice(0, from)]) {
    if (room.lines === 0 || line.length > room.text) {
      room.lines = 0
      break
    }
    room.lines--
    room.text -= line.length
    taken.push(line)
  }
  return taken
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
