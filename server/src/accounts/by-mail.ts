import type { Mailer } from '#/mail/mailer.ts'
import type { Database } from '#/store/database.ts'
import { LogIn } from './log-in.ts'
import { MagicLinks, type MagicLinkSettings } from './magic-link.ts'
import { Padding } from './padding.ts'
import { SignUp, type SignUpSettings } from './sign-up.ts'
import { Withdrawals } from './withdrawals.ts'

export interface AccountsByMailParts {
  readonly database: Database
  readonly mailer: Mailer
  readonly settings: MagicLinkSettings & SignUpSettings
  /** Called when something that was stored could not be taken back yet. */
  readonly onOwed: () => void
}

/** Everything that ends in a mail with a link. */
export function accountsByMail({ database, mailer, settings, onOwed }: AccountsByMailParts) {
  const withdrawals = new Withdrawals(database, onOwed)
  const padding = new Padding()
  const links = new MagicLinks({ database, mailer, withdrawals, padding, settings })
  return {
    withdrawals,
    padding,
    links,
    logIn: new LogIn(database, links, padding),
    signUp: new SignUp(database, links, settings),
  }
}
