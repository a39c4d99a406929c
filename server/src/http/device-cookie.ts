import { createHmac, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'

/** Name of the cookie; also a sign-out leaves it. */
const deviceCookie = 'berth_device'
/** In seconds: half a year. */
const lifetime = 15_552_000
/** Id, and HMAC of it. */
const form = /^([\w-]{22})\.([\w-]{43})$/

/**
 * Device cookie: proves that a user signed in by this browser before. Such a browser has its own rate limit, so that a
 * another client behind the same network address does not use it up. It signs no user in, names none, and is sent to the
 * endpoints of sign-in alone. Source: OWASP, "Slow Down Online Guessing Attacks with Device Cookies".
 */
export class DeviceCookies {
  readonly #key: KeyObject
  readonly #isSecure: boolean

  constructor(key: KeyObject, { isSecure }: Pick<CookieSettings, 'isSecure'>) {
    this.#key = key
    this.#isSecure = isSecure
  }

  /** Id of the browser; undefined without a cookie of ours, and when a page has added a second one. */
  idOf({ cookie }: IncomingHttpHeaders): string | undefined {
    const [value = '', ...more] = new Set(cookieValues(cookie, deviceCookie))
    const [, id = '', mac = ''] = form.exec(value) ?? []
    if (id === '' || more.length > 0) return undefined
    return timingSafeEqual(Buffer.from(mac), Buffer.from(this.#macOf(id))) ? id : undefined
  }

  /** The `Set-Cookie` line of a browser in which a user signs in; a known browser keeps its id for as long again. */
  lineFor(headers: IncomingHttpHeaders): string {
    const id = this.idOf(headers) ?? randomBytes(16).toString('base64url')
    const secure = this.#isSecure ? '; Secure' : ''
    return `${deviceCookie}=${id}.${this.#macOf(id)}; Path=/api/auth; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${secure}`
  }

  #macOf(id: string): string {
    return createHmac('sha256', this.#key).update(id).digest('base64url')
  }
}
