import type { ContainerRef } from '#/store/user-containers.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { Addresses } from '#/config/config.ts'
import { apiTokenHandlers } from '#/http/handlers/api-token-handlers.ts'
import { authHandlers, entryHandlers, renewalHandlers } from '#/http/handlers/auth-handlers.ts'
import { oidcHandlers } from '#/http/handlers/oidc-handlers.ts'
import { personalDataHandlers, sessionHandlers, userHandlers } from '#/http/handlers/account-handlers.ts'
import { containerEventHandlers, containerHandlers, containerLogHandlers } from '#/http/handlers/container-handlers.ts'
import {
  groupAdministrationHandlers,
  groupHandlers,
  groupHoursHandlers,
  groupInvitationHandlers,
} from '#/http/handlers/group-handlers.ts'
import { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import {
  homeTransferHandlers,
  operatorSnapshotHandlers,
  snapshotHandlers,
  type NoteHome,
} from '#/http/handlers/snapshot-handlers.ts'
import { ownerOf, type Handlers } from '#/http/handlers/call.ts'
import { noteHomeAction } from '#/homes/home-access.ts'
import { groupPageHandlers, lookHandlers } from '#/http/handlers/group-page-handlers.ts'
import { sharingHandlers } from '#/http/handlers/sharing-handlers.ts'
import { archiveHandlers, termEndHandlers } from '#/http/handlers/term-end-handlers.ts'
import { discoveryHandlers, healthHandlers, legalTextHandlers } from '#/http/handlers/system-handlers.ts'
import type { RateLimiter } from '#/http/rate-limiter.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Sharing } from './wire-sharing.ts'
import type { TermEndFeature } from './wire-term-end.ts'
import type { Usage } from './wire-usage.ts'
import { usageHandlers } from '#/http/handlers/admin-system-handlers.ts'
import type { Groups } from './wire-groups.ts'
import type { AppParts } from './app-parts.ts'
import type { Accounts } from './wire-accounts.ts'
import { adminHandlers } from './wire-admin-handlers.ts'
import type { Administration } from './wire-administration.ts'
import type { TemplateAdministration } from './wire-templates.ts'
import type { Browsers } from './wire-browsers.ts'
import type { Containers } from './wire-containers.ts'
import type { Oidc } from './wire-oidc.ts'
import type { Reconciling } from './wire-reconciling.ts'
import type { Tokens } from './wire-tokens.ts'

/** The use cases that handlers call. */
export interface UseCases {
  readonly addresses: Addresses
  readonly tokens: Tokens
  readonly containers: Containers
  readonly accounts: Accounts
  readonly administration: Administration
  readonly templates: TemplateAdministration
  readonly oidc: Oidc
  readonly groups: Groups
  readonly sharing: Sharing
  readonly usage: Usage
  readonly termEnd: TermEndFeature
  readonly reconciling: Reconciling
}

export interface HandlersContext extends UseCases {
  readonly browsers: Browsers
  readonly rateLimiter: RateLimiter
  readonly findings: () => readonly LocalizedMessage[]
}

/** Every handler of the endpoint table; each group receives exactly the parts that it uses. */
export function wireHandlers(parts: AppParts, context: HandlersContext): Handlers {
  const { groups, sharing } = context
  return {
    ...accountHandlers(parts, context),
    ...ownerHandlers(context),
    ...adminHandlers(parts, context),
    ...usageHandlers(context.usage),
    ...groupAdministrationHandlers({ groups: groups.administration }),
    ...groupHandlers(groups),
    ...homeHandlers(parts, context),
    ...sharingHandlers({
      ...sharing,
      templates: parts.config.templates,
      spawnerUrl: context.addresses.spawnerUrl,
      hasContainerHosts: parts.config.containerRouting === 'subdomain',
    }),
    ...lookHandlers(sharing),
    ...groupInvitationHandlers(groups),
    ...termEndHandlers(context.termEnd),
    ...archiveHandlers({ ...context.termEnd, templates: parts.config.templates }),
    ...groupHoursHandlers({ ...groups, timeZone: parts.config.timeZone }),
    ...groupPageHandlers({
      openUrlOf: openUrlOf(parts, context),
      ...groups,
      sessionEnd: sessionEndOf(context),
    }),
  }
}

function homeHandlers({ database }: AppParts, { containers }: HandlersContext) {
  const note: NoteHome = (each, call, now) => {
    const acting = call.session?.claims.acting
    const detail = { ...each.detail, ...(acting ? { acting } : {}) }
    return noteHomeAction(database, { ...each, actor: ownerOf(call), detail }, now)
  }
  const changes = new OwnChangeLimit()
  return {
    ...snapshotHandlers({ snapshots: containers.snapshots, note, changes }),
    ...homeTransferHandlers({ ...containers.homes, note, changes }),
    ...operatorSnapshotHandlers(containers.snapshotAdministration),
  }
}

function accountHandlers(parts: AppParts, context: HandlersContext) {
  const { database, runtime, key, config } = parts
  const { isByLink } = config.signIn
  const { tokens, accounts, containers, administration, oidc, browsers, rateLimiter, addresses } = context
  return {
    ...authHandlers({
      isByLink,
      providerSignOut: oidc.providerSignOut,
      logIn: accounts.logIn,
      signUp: accounts.signUp,
      linksLeft: accounts.linksLeft,
      verifyLink: accounts.verifyLink,
      authenticator: accounts.authenticator,
      endSessions: administration.endSessions,
      browserSession: browsers.browserSession,
      ownContainers: containers.ownContainers,
      cookie: browsers.cookie,
      loginCsrf: browsers.loginCsrf,
      sameBrowserProof: browsers.sameBrowserProof,
      impersonatorSession: browsers.impersonatorSession,
      rateLimiter,
      devices: browsers.devices,
    }),
    ...oidcHandlers({
      isByLink,
      ...oidc,
      authenticator: accounts.authenticator,
      endSessions: administration.endSessions,
      cookie: browsers.cookie,
      attempts: browsers.attempts,
      browserSession: browsers.browserSession,
      impersonatorSession: browsers.impersonatorSession,
      rateLimiter,
      devices: browsers.devices,
    }),
    ...renewalHandlers({
      ownContainers: containers.ownContainers,
      authenticator: accounts.authenticator,
      renewSession: tokens.renewSession,
      browserSession: browsers.browserSession,
      loginCsrf: browsers.loginCsrf,
      cookie: browsers.cookie,
      rateLimiter,
    }),
    ...entryHandlers({
      authenticator: accounts.authenticator,
      hostSignIn: tokens.hostSignIn,
      cookie: browsers.cookie,
      rateLimiter,
    }),
    ...userHandlers({ ownContainers: containers.ownContainers, spawnerUrl: addresses.spawnerUrl }),
    ...sessionHandlers({ sessionList: accounts.sessionList, cookie: browsers.cookie }),
    ...personalDataHandlers(accounts.personalData),
    ...apiTokenHandlers({ apiTokens: accounts.apiTokens }),
    ...healthHandlers({ database, runtime, routes: containers.routeSync }),
    ...legalTextHandlers(config.branding),
    ...discoveryHandlers({ key, spawnerUrl: addresses.spawnerUrl }),
  }
}

const openUrlOf =
  ({ config: { templates } }: AppParts, { addresses, containers }: HandlersContext) =>
  ({ userId, type }: ContainerRef): string | undefined => {
    const slug = containers.routeSync.gatewayUserOf({ userId })?.slug
    const path = templates.get(type)?.openPath
    return slug && `${addresses.spawnerUrl}/${containerPrefix(slug, type)}${path ? `/${path}` : ''}`
  }

const sessionEndOf =
  ({ tokens }: HandlersContext) =>
  (sid: string) =>
    tokens.renewSession.endOf(sid, new Date())

function ownerHandlers(context: HandlersContext) {
  const { containers, addresses } = context
  const sessionEnd = sessionEndOf(context)
  return {
    ...containerHandlers({
      ownContainers: containers.ownContainers,
      launch: containers.launch,
      templates: containers.templates,
      ownerActions: containers.ownerActions,
      spawnerUrl: addresses.spawnerUrl,
    }),
    ...containerEventHandlers({ subscriptions: containers.subscriptions, sessionEnd }),
    ...containerLogHandlers({ logs: containers.logs, sessionEnd }),
  }
}
