import type { SessionCookies } from '#/accounts/sessions/begin-session.ts'
import type { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { AddressSecrets } from '#/http/front-end/address-secrets.ts'
import { DeviceCookies } from '#/http/rate-limiter.ts'
import { Seal } from '#/machine/seal.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { BrowserSession } from './browser-session.ts'
import { ImpersonatorSession } from './impersonator-session.ts'
import { AttemptCookies, LoginCsrf, SameBrowserProof } from './sign-in-cookies.ts'

export interface BrowsersParts {
  readonly key: SigningKeys
  readonly cookie: CookieSettings
  readonly authenticator: SessionAuthenticator
  readonly sessionCookies: SessionCookies
  /** Lifetime of a mailed link, in seconds. */
  readonly linkLifetime: number
}

/** Cookies, and the protection of browsers against CSRF. */
export class Browsers {
  readonly cookie: CookieSettings
  readonly loginCsrf: LoginCsrf
  readonly devices: DeviceCookies
  readonly browserSession: BrowserSession
  readonly attempts: AttemptCookies
  readonly addressSecrets: AddressSecrets
  readonly impersonatorSession: ImpersonatorSession
  readonly sameBrowserProof: SameBrowserProof

  constructor({ key, cookie, authenticator, sessionCookies, linkLifetime }: BrowsersParts) {
    const loginCsrf = new LoginCsrf(key.hmacKeyFor('visit'), cookie)
    this.cookie = cookie
    this.loginCsrf = loginCsrf
    this.devices = new DeviceCookies(key.hmacKeyFor('device'), cookie)
    this.browserSession = new BrowserSession(sessionCookies, cookie)
    this.attempts = new AttemptCookies({ seal: new Seal(key.secretFor('attempt')), settings: cookie, loginCsrf })
    this.addressSecrets = new AddressSecrets({ seal: new Seal(key.secretFor('link')), settings: cookie, loginCsrf })
    this.impersonatorSession = new ImpersonatorSession(authenticator, cookie)
    this.sameBrowserProof = new SameBrowserProof({
      key: key.hmacKeyFor('asked'),
      settings: cookie,
      loginCsrf,
      linkLifetime,
    })
  }
}
