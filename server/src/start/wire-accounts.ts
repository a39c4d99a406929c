import type { Logger } from 'pino'
import {
  LinkLimits,
  LinksLeftCount,
  NewAddressLimit,
  withTransactionLimit,
  type LinkLimitSettings,
} from '#/accounts/sign-up/link-limits.ts'
import { EnumerationGuard, ResponsePadding } from '#/accounts/sign-up/enumeration-guard.ts'
import { ApiTokenAuthenticator, ApiTokens, apiTokenJti } from '#/accounts/api-tokens.ts'
import type { ApiTokenEffects } from '#/store/users.ts'
import { Compensations } from '#/accounts/sign-up/compensations.ts'
import { MagicLinks, type MagicLinkSettings } from '#/accounts/sign-up/magic-link.ts'
import { MailStatistics } from '#/accounts/mail/mail-statistics.ts'
import { VerifyLink } from '#/accounts/sign-up/verify-link.ts'
import { scopedLifetime } from '#/accounts/sessions/access-token.ts'
import { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { BeginSession } from '#/accounts/sessions/begin-session.ts'
import { PersonalData } from '#/accounts/personal-data.ts'
import { SessionList } from '#/accounts/sessions/session-list.ts'
import { Invite } from '#/accounts/sign-up/invitations.ts'
import { LogIn, SignUp } from '#/accounts/sign-up/sign-up.ts'
import { Registration, UnverifiedAccounts, type RegistrationSettings } from '#/accounts/sign-up/registration.ts'
import type { SignUpPolicy } from '#/accounts/sign-up/email-address.ts'
import { RotateKeys } from '#/admin/operator-actions.ts'
import { requiresCompanion, type Addresses } from '#/config/config.ts'
import type { Launch } from '#/containers/launch/launch.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import { retiredKeysTask } from '#/accounts/housekeeping-tasks.ts'
import { mailLookOf } from './wire-branding.ts'
import { reservedSlugs } from '#/accounts/sign-up/slug.ts'
import type { Database } from '#/store/database.ts'
import type { AppParts } from './app-parts.ts'
import type { Containers } from './wire-containers.ts'
import type { Tokens } from './wire-tokens.ts'

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
  /** Called when a compensation was stored that could not be applied yet. */
  readonly onPending: () => void
  readonly log: Pick<Logger, 'warn'>
}

/** Use cases that end in a mail with a link. */
export function wireEmailAccounts({ database: store, mailer, settings, onPending, log }: EmailAccountsParts) {
  const database = withTransactionLimit(store)
  // Compensations and housekeeping use the store itself: they do not queue behind requests.
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
    registration,
    linksLeft: new LinksLeftCount(settings),
    unverifiedAccounts: new UnverifiedAccounts(store, registration),
    logIn: new LogIn(database, links, enumerationGuard),
    invite: new Invite({ database, links, limits, registration, ...settings }),
    signUp: new SignUp({ database, links, limits, newAddressLimit, registration, enumerationGuard, policy: settings }),
  }
}

export interface AccountsContext {
  readonly addresses: Addresses
  readonly tokens: Tokens
  readonly containers: Containers
  /** Requests a run of the reconciler, when a compensation is left to it. */
  readonly activate: () => void
  /** See `RegistrationSettings`. */
  readonly slugsKnown: Promise<unknown>
  /** Sends the gateway its settings, and with them the accepted keys. */
  readonly publishKeys: () => Promise<void>
  /** Called when an invitation has made a user a member of a group. */
  readonly onJoin: () => void
}

/** Accounts, sessions and signing keys. */
export function wireAccounts(
  { config, database, mailer, key, log }: AppParts,
  { addresses, tokens: sessions, containers, activate, slugsKnown, publishKeys, onJoin }: AccountsContext,
) {
  const { launch, prestart, routeSync } = containers
  const { tokens, revocations, lifetimes, cookies, uses, streams } = sessions
  const settings = {
    ...config,
    frontendUrl: addresses.frontendUrl,
    reservedSlugs,
    slugsKnown,
    ...(config.branding && { mailLook: mailLookOf(config.branding) }),
  }
  const byMail = wireEmailAccounts({ database, mailer, settings, onPending: activate, log })
  const effects = {
    publish: (userId: number) => routeSync.publishUser(userId),
    startPrimary: (user: Parameters<Launch['startPrimary']>[0]) =>
      prestart.afterSignIn(user, () => launch.startPrimary(user, new Date())),
  }
  const apiTokenEffects: ApiTokenEffects = {
    endStreams: ({ id, userId: ownerId }) => streams.endSession(ownerId, apiTokenJti(id)),
  }
  const newId = () => revocations.newId()
  const beginSession = new BeginSession({ database, tokens, lifetimes, cookies, newId, effects, log })
  const tokenLifetime = Math.max(config.accessTokenExpires, scopedLifetime)
  return {
    authenticator: new SessionAuthenticator(
      database,
      tokens,
      revocations,
      key.hmacKeyFor('csrf'),
      requiresCompanion(config, addresses),
    ),
    sessionList: new SessionList(database, revocations, uses, config.keepTakeovers),
    personalData: new PersonalData(database, retentionTimes(config)),
    beginSession,
    apiTokens: new ApiTokens(database, apiTokenEffects),
    apiTokenEffects,
    apiTokenAuthenticator: new ApiTokenAuthenticator(database, log),
    ...byMail,
    verifyLink: new VerifyLink(database, beginSession, byMail.compensations, {
      noteUse: (ms) => byMail.mailStatistics.used(ms),
      onJoin,
    }),
    rotateKeys: new RotateKeys(database, key, { tokenLifetime, publishKeys }),
    retiredKeys: retiredKeysTask(key, publishKeys),
  }
}

const retentionTimes = (config: AppParts['config']) => ({
  homes: config.keepHomes,
  takeovers: config.keepTakeovers,
  audit_addresses: config.keepAuditAddresses,
  sessions: config.sessionMax,
})

export type Accounts = ReturnType<typeof wireAccounts>
