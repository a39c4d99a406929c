import type { Logger } from 'pino'
import type { Mailer } from '#/mail/mailer.ts'
import type { Database } from '#/store/database.ts'
import { withTransactionLimit } from '../accounts/abuse-protection/transaction-limit.ts'
import { MailStatistics } from '../accounts/links/mail-statistics.ts'
import { Invite } from '../accounts/sign-up/invitations.ts'
import { LinkLimits, type LinkLimitSettings } from '../accounts/abuse-protection/link-limits.ts'
import { LinksLeftCount } from '../accounts/abuse-protection/links-left.ts'
import { LogIn } from '../accounts/sign-up/log-in.ts'
import { MagicLinks, type MagicLinkSettings } from '../accounts/links/magic-link.ts'
import { NewAddressLimit } from '../accounts/abuse-protection/new-address-limit.ts'
import { ResponsePadding } from '../accounts/abuse-protection/response-padding.ts'
import { Registration, type RegistrationSettings } from '../accounts/sign-up/registration.ts'
import { SignUp } from '../accounts/sign-up/sign-up.ts'
import { EnumerationGuard } from '../accounts/abuse-protection/enumeration-guard.ts'
import { UnverifiedAccounts } from '../accounts/sign-up/unverified-accounts.ts'
import type { SignUpPolicy } from '../accounts/sign-up/sign-up-policy.ts'
import { Compensations } from '../accounts/links/compensations.ts'

export interface EmailAccountsParts {
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
  readonly onPending: () => void
  readonly log: Pick<Logger, 'warn'>
}

/** Everything that ends in a mail with a link. */
export function wireEmailAccounts({ database: store, mailer, settings, onPending, log }: EmailAccountsParts) {
  const database = withTransactionLimit(store)
  // What has to be taken back, or is old, waits behind nobody.
  const compensations = new Compensations(store, onPending)
  const padding = new ResponsePadding()
  const mailStatistics = new MailStatistics()
  const limits = new LinkLimits(database, settings)
  const links = new MagicLinks({ database, mailer, compensations, limits, padding, mailStatistics, settings })
  const newAddressLimit = new NewAddressLimit(settings.newAddressesPerHour, log)
  const enumerationGuard = new EnumerationGuard({ database, limits, padding, ...settings })
  const registration = new Registration(database, compensations, settings)
  return {
    compensations,
    padding,
    mailStatistics,
    links,
    newAddressLimit,
    linksLeft: new LinksLeftCount(settings),
    unverifiedAccounts: new UnverifiedAccounts(store, registration),
    logIn: new LogIn(database, links, enumerationGuard),
    invite: new Invite({ database, links, registration, ...settings }),
    signUp: new SignUp({ database, links, limits, newAddressLimit, registration, enumerationGuard, policy: settings }),
  }
}
