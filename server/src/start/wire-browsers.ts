import type { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { SessionCookies } from '#/accounts/sessions/begin-session.ts'
import type { Addresses } from '#/config/config.ts'
import { Seal } from '#/machine/seal.ts'
import { AttemptCookies, LoginCsrf, SameBrowserProof } from '#/http/auth/sign-in-cookies.ts'
import { AddressSecrets } from '#/http/front-end/address-secrets.ts'
import { BrowserSession } from '#/http/auth/browser-session.ts'
import { ImpersonatorSession } from '#/http/auth/impersonator-session.ts'
import { DeviceCookies } from '#/http/rate-limiter.ts'
import type { AppParts } from './app-parts.ts'

/** Cookies, and the protection of browsers against CSRF. */
export function wireBrowsers(
  { config, key }: AppParts,
  { cookieDomain }: Addresses,
  authenticator: SessionAuthenticator,
  sessionCookies: SessionCookies,
) {
  const cookie = { domain: cookieDomain, isSecure: config.scheme === 'https' }
  const loginCsrf = new LoginCsrf(key.hmacKeyFor('visit'), cookie)
  return {
    cookie,
    loginCsrf,
    devices: new DeviceCookies(key.hmacKeyFor('device'), cookie),
    browserSession: new BrowserSession(sessionCookies, cookie),
    attempts: new AttemptCookies({ seal: new Seal(key.secretFor('attempt')), settings: cookie, loginCsrf }),
    addressSecrets: new AddressSecrets({ seal: new Seal(key.secretFor('link')), settings: cookie, loginCsrf }),
    impersonatorSession: new ImpersonatorSession(authenticator, cookie),
    sameBrowserProof: new SameBrowserProof({
      key: key.hmacKeyFor('asked'),
      settings: cookie,
      loginCsrf,
      linkLifetime: config.magicLinkExpiry,
    }),
  }
}

export type Browsers = ReturnType<typeof wireBrowsers>
