import type { Logger } from 'pino'
import type { Mailer } from '#/mail/mailer.ts'
import type { Database } from '#/store/database.ts'
import { forCrowds } from './crowd.ts'
import { Deliveries } from './deliveries.ts'
import { Invite } from './invite.ts'
import { LinkLimits, type LinkLimitSettings } from './link-limits.ts'
import { LinksLeftCount } from './links-left.ts'
import { LogIn } from './log-in.ts'
import { MagicLinks, type MagicLinkSettings } from './magic-link.ts'
import { NewcomerLimit } from './newcomer-limit.ts'
import { Padding } from './padding.ts'
import { Registration, type RegistrationSettings } from './registration.ts'
import { SignUp } from './sign-up.ts'
import { Strangers } from './strangers.ts'
import { Unverified } from './unverified.ts'
import type { SignUpPolicy } from './who-may-sign-up.ts'
import { Withdrawals } from './withdrawals.ts'

export interface AccountsByMailParts {
  readonly database: Database
  readonly mailer: Mailer
  readonly settings: MagicLinkSettings &
    LinkLimitSettings &
    RegistrationSettings &
    SignUpPolicy & {
      readonly isEnumerationStrict: boolean
      readonly invitationExpiry: number
      readonly newAddressesPerHour: number
    }
  /** Called when something that was stored could not be taken back yet. */
  readonly onOwed: () => void
  readonly log: Pick<Logger, 'warn'>
}

/** Everything that ends in a mail with a link. */
export function accountsByMail({ database: store, mailer, settings, onOwed, log }: AccountsByMailParts) {
  const database = forCrowds(store)
  // What has to be taken back, or is old, waits behind nobody.
  const withdrawals = new Withdrawals(store, onOwed)
  const padding = new Padding()
  const deliveries = new Deliveries()
  const limits = new LinkLimits(database, settings)
  const links = new MagicLinks({ database, mailer, withdrawals, limits, padding, deliveries, settings })
  const newcomers = new NewcomerLimit(settings.newAddressesPerHour, log)
  const strangers = new Strangers({ database, limits, padding, ...settings })
  const registration = new Registration(database, withdrawals, settings)
  return {
    withdrawals,
    padding,
    deliveries,
    links,
    newcomers,
    linksLeft: new LinksLeftCount(settings),
    unverified: new Unverified(store, registration),
    logIn: new LogIn(database, links, strangers),
    invite: new Invite({ database, links, registration, ...settings }),
    signUp: new SignUp({ database, links, limits, newcomers, registration, strangers, policy: settings }),
  }
}
