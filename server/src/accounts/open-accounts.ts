import type { Logger } from 'pino'
import type { Foundation } from '#/containers/containers-parts.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import { settledDay } from '#/machine/settled-dates.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { Database } from '#/store/database.ts'
import { ApiTokenAuthenticator, ApiTokens } from './api-tokens.ts'
import { expiredTask, lastUsedTask, personalFactsTask, retiredKeysTask, unverifiedTask } from './housekeeping-tasks.ts'
import { mailLookOf, type MailBranding } from './mail/link-email.ts'
import { MailStatistics } from './mail/mail-statistics.ts'
import type { Mailer } from './mail/mailer.ts'
import { PersonalData } from './personal-data.ts'
import { BeginSession } from './sessions/begin-session.ts'
import type { Sessions } from './sessions/open-sessions.ts'
import { SessionAuthenticator } from './sessions/session-authenticator.ts'
import { SessionList } from './sessions/session-list.ts'
import type { SigningKeys } from './sessions/signing-keys.ts'
import { Compensations } from './sign-up/compensations.ts'
import type { SignUpPolicy } from './sign-up/email-address.ts'
import { EnumerationGuard, ResponsePadding } from './sign-up/enumeration-guard.ts'
import { Invite } from './sign-up/invitations.ts'
import {
  LinkLimits,
  LinksLeftCount,
  NewAddressLimit,
  withTransactionLimit,
  type LinkLimitSettings,
} from './sign-up/link-limits.ts'
import { MagicLinks, type MagicLinkSettings } from './sign-up/magic-link.ts'
import {
  Registration,
  UnverifiedAccounts,
  missingAdministrator,
  type RegistrationSettings,
} from './sign-up/registration.ts'
import { LogIn } from './sign-up/log-in.ts'
import { SignUp } from './sign-up/sign-up.ts'
import { reservedSlugs, takenSlugsTask } from './sign-up/slug.ts'
import { VerifyLink } from './sign-up/verify-link.ts'
import { SshKeys } from './ssh-keys.ts'

export type { Invite, InvitationPurpose } from './sign-up/invitations.ts'
export { reservedSlugs } from './sign-up/slug.ts'

/** How long sign-ups wait for the slugs that the engine knows, in ms after the start; nothing else waits for them. */
const slugTimeout = 10_000

interface LinkSettings extends MagicLinkSettings, LinkLimitSettings, RegistrationSettings, SignUpPolicy {
  readonly isEnumerationStrict: boolean
  readonly invitationExpiry: number
  readonly newAddressesPerHour: number
}

export interface LinkAccountsParts {
  readonly database: Database
  readonly mailer: Mailer
  readonly settings: LinkSettings
  /** Called when a compensation was stored that could not be applied yet. */
  readonly onPending: () => void
  readonly log: Pick<Logger, 'warn'>
}

/** Use cases that end in a mail with a link. */
export class LinkAccounts {
  readonly compensations: Compensations
  readonly padding = new ResponsePadding()
  readonly mailStatistics = new MailStatistics()
  readonly links: MagicLinks
  readonly newAddressLimit: NewAddressLimit
  readonly registration: Registration
  readonly linksLeft: LinksLeftCount
  readonly unverifiedAccounts: UnverifiedAccounts
  readonly logIn: LogIn
  readonly invite: Invite
  readonly signUp: SignUp

  constructor({ database: store, mailer, settings, onPending, log }: LinkAccountsParts) {
    const { padding, mailStatistics } = this
    const database = withTransactionLimit(store)
    // Compensations and housekeeping use the store itself: they do not queue behind requests.
    const compensations = new Compensations(store, onPending)
    const limits = new LinkLimits(database, settings)
    const links = new MagicLinks({ database, mailer, compensations, limits, padding, mailStatistics, settings })
    const newAddressLimit = new NewAddressLimit(settings.newAddressesPerHour, log)
    const enumerationGuard = new EnumerationGuard({ database, limits, padding, ...settings })
    const registration = new Registration(database, compensations, settings)
    this.compensations = compensations
    this.links = links
    this.newAddressLimit = newAddressLimit
    this.registration = registration
    this.linksLeft = new LinksLeftCount(settings)
    this.unverifiedAccounts = new UnverifiedAccounts(store, registration)
    this.logIn = new LogIn(database, links, enumerationGuard)
    this.invite = new Invite({ database, links, limits, registration, ...settings })
    const policy = settings
    this.signUp = new SignUp({ database, links, limits, newAddressLimit, registration, enumerationGuard, policy })
  }
}

/** Settings of this room, as `Config` has them; times in seconds. */
export type AccountsSettings = Omit<LinkSettings, 'frontendUrl' | 'mailLook' | 'reservedSlugs' | 'slugsKnown'> & {
  readonly branding: MailBranding | null
  readonly keepHomes: number
  readonly keepTakeovers: number
  readonly keepAuditAddresses: number
  readonly sessionMax: number
}

export interface AccountsParts extends Pick<Foundation, 'database' | 'runtime' | 'log'> {
  readonly config: AccountsSettings
  readonly mailer: Mailer
  readonly key: SigningKeys
  readonly addresses: { readonly frontendUrl: string }
  /** Whether a token counts only with its companion; see `SessionAuthenticator`. */
  readonly requiresCompanion: boolean
  readonly sessions: Sessions
  readonly containers: Containers
  /** Sends the gateway its settings, and with them the accepted keys. */
  readonly publishKeys: () => Promise<void>
  /** For tests, in ms. */
  readonly pace?: { readonly overdue?: number }
}

/** The room of accounts: sign-up, links, sign-in, sessions of people, and API tokens. */
export class Accounts extends LinkAccounts {
  readonly authenticator: SessionAuthenticator
  readonly sessionList: SessionList
  readonly personalData: PersonalData
  readonly beginSession: BeginSession
  readonly apiTokens: ApiTokens
  readonly sshKeys: SshKeys
  readonly apiTokenAuthenticator: ApiTokenAuthenticator
  readonly verifyLink: VerifyLink
  /** Periodic tasks of this room, in the order in which they are to run. */
  readonly tasks: readonly Task[]
  readonly #parts: AccountsParts

  constructor(parts: AccountsParts) {
    const { config, database, runtime, mailer, key, sessions, containers, publishKeys, log } = parts
    const { tokens, revocations, lifetimes, cookies, uses, streams } = sessions
    const { reconciler, engineList, activity } = containers
    const takenSlugs = takenSlugsTask(database, runtime, engineList)
    // The routes come first, because lists of 20,000 containers and homes take seconds. The list of containers is shared:
    // routes, slugs, and the first run of the reconciler use the same one.
    const slugsKnown = containers.routesPublished.then(() =>
      withTimeout(
        slugTimeout,
        tryOrLog(log, 'asking the engine for slugs', () => takenSlugs.claimAll()),
      ),
    )
    const mailLook = mailLookOf(config.branding)
    const { frontendUrl } = parts.addresses
    const settings = { ...config, frontendUrl, reservedSlugs, slugsKnown, ...(mailLook && { mailLook }) }
    super({ database, mailer, settings, onPending: () => reconciler.activate(), log })
    const { compensations, mailStatistics, unverifiedAccounts } = this
    const csrfKey = key.hmacKeyFor('csrf')
    const newId = () => revocations.newId()
    this.#parts = parts
    this.authenticator = new SessionAuthenticator(database, tokens, revocations, csrfKey, parts.requiresCompanion)
    this.sessionList = new SessionList(database, revocations, uses, config.keepTakeovers)
    this.personalData = new PersonalData(database, retentionTimes(config))
    this.beginSession = new BeginSession({ database, tokens, lifetimes, cookies, newId, containers, log })
    this.apiTokens = new ApiTokens(database, streams)
    this.sshKeys = new SshKeys({ database, mailer, frontendUrl, mailLook, log })
    this.apiTokenAuthenticator = new ApiTokenAuthenticator(database, log)
    this.verifyLink = new VerifyLink(database, this.beginSession, compensations, mailStatistics)
    this.tasks = [
      takenSlugs,
      expiredTask(database, revocations, compensations, this.sessionList, this.apiTokens),
      personalFactsTask(database, config.keepAuditAddresses, settledDay(parts.pace?.overdue)),
      unverifiedTask(unverifiedAccounts),
      retiredKeysTask(key, publishKeys),
      lastUsedTask(activity, uses),
    ]
  }

  /** A sentence for the log when this installation has no administrator; null when it has one. Never rejects. */
  async missingAdministrator(): Promise<string | null | undefined> {
    const { database, config, log } = this.#parts
    return tryOrLog(log, 'looking for administrators', () => missingAdministrator(database.db, config))
  }

  /** Answers that wait so long as others took are given at once. */
  stop(): void {
    this.padding.close()
  }
}

const retentionTimes = (config: AccountsSettings) => ({
  homes: config.keepHomes,
  takeovers: config.keepTakeovers,
  audit_addresses: config.keepAuditAddresses,
  sessions: config.sessionMax,
})
