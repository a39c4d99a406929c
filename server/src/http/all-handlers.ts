import type { Accounts } from '#/accounts/open-accounts.ts'
import type { ProviderSignIn, ProviderSignOut } from '#/accounts/oidc/open-provider-sign-in.ts'
import { OwnChangeLimit } from '#/accounts/own-change-limit.ts'
import type { Sessions } from '#/accounts/sessions/open-sessions.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Admin } from '#/admin/open-admin.ts'
import type { Addresses, Config } from '#/config/config.ts'
import { containerPrefix } from '#/containers/container-name.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Environments } from '#/environments/open-environments.ts'
import type { Groups } from '#/groups/open-groups.ts'
import { noteHomeAction, type Homes } from '#/homes/open-homes.ts'
import type { Browsers } from './auth/browsers.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { NodeReport } from '#/nodes/node.ts'
import type { Ssh } from '#/ssh/open-ssh.ts'
import type { Sharing } from '#/sharing/open-sharing.ts'
import type { Database } from '#/store/database.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { Usage } from '#/usage/open-usage.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { personalDataHandlers, sessionHandlers, userHandlers } from './handlers/account-handlers.ts'
import {
  blockUserHandlers,
  containerBlockingHandlers,
  containerSupportHandlers,
  deletionHandlers,
  invitationHandlers,
  listHandlers,
  roleHandlers,
  userDetailsHandlers,
} from './handlers/admin-handlers.ts'
import {
  auditHandlers,
  systemHistoryHandlers,
  systemReportHandlers,
  templateHandlers,
  usageHandlers,
} from './handlers/admin-system-handlers.ts'
import { apiTokenAdministrationHandlers, apiTokenHandlers } from './handlers/api-token-handlers.ts'
import { authHandlers, entryHandlers, renewalHandlers, takeoverHandlers } from './handlers/auth-handlers.ts'
import { ownerOf, type Handlers } from './handlers/call.ts'
import {
  containerEventHandlers,
  containerHandlers,
  containerLogHandlers,
  containerPortsHandler,
} from './handlers/container-handlers.ts'
import { environmentHandlers } from './handlers/environment-handlers.ts'
import {
  groupAdministrationHandlers,
  groupHandlers,
  groupFolderHandlers,
  groupHoursHandlers,
  groupInvitationHandlers,
} from './handlers/group-handlers.ts'
import { groupPageHandlers, lookHandlers } from './handlers/group-page-handlers.ts'
import { oidcHandlers } from './handlers/oidc-handlers.ts'
import { keyHandlers, operatorHandlers } from './handlers/operator-handlers.ts'
import { sharingHandlers } from './handlers/sharing-handlers.ts'
import {
  homeTransferHandlers,
  operatorHomeOwnerHandlers,
  operatorSnapshotHandlers,
  ownHomesHandlers,
  snapshotHandlers,
  type NoteHome,
} from './handlers/snapshot-handlers.ts'
import { sshHandlers } from './handlers/ssh-handlers.ts'
import { discoveryHandlers, healthHandlers, legalTextHandlers } from './handlers/system-handlers.ts'
import { archiveHandlers, termEndHandlers } from './handlers/term-end-handlers.ts'

/** What requests are answered from: the rooms that this one calls, and what they are built on. */
export interface Rooms {
  readonly config: Config
  readonly addresses: Addresses
  readonly database: Database
  readonly runtime: Runtime
  readonly key: SigningKeys
  /** With several nodes; this one leads. */
  readonly nodes?: NodeReport
  readonly sessions: Sessions
  readonly containers: Containers
  readonly homes: Homes
  readonly sharing: Sharing
  readonly accounts: Accounts
  readonly admin: Admin
  readonly groups: Groups
  readonly environments: Environments
  readonly usage: Usage
  readonly ssh: Ssh
  readonly providerSignIn: ProviderSignIn
  readonly providerSignOut: ProviderSignOut
}

export interface HandlersParts extends Rooms {
  readonly browsers: Browsers
  readonly rateLimiter: RateLimiter
  /** Findings of the configuration, and those since the start. */
  readonly findings: () => readonly LocalizedMessage[]
}

/** Every handler of the endpoint table. */
export function allHandlers(parts: HandlersParts): Handlers {
  const { config, groups, sharing, usage } = parts
  const { templates, timeZone } = config
  const { termEnds } = groups
  return {
    ...accountHandlers(parts),
    ...ownerHandlers(parts),
    ...adminHandlers(parts),
    ...usageHandlers(usage),
    ...environmentHandlers({
      environments: parts.environments.administration,
      templates,
      spawnerUrl: parts.addresses.spawnerUrl,
      streams: parts.containers.streams,
    }),
    ...groupAdministrationHandlers(groups),
    ...groupHandlers(groups),
    ...homeHandlers(parts),
    ...sharingHandlers({
      sharing,
      templates,
      spawnerUrl: parts.addresses.spawnerUrl,
      hasContainerHosts: config.containerRouting === 'subdomain',
    }),
    ...lookHandlers(sharing),
    ...groupInvitationHandlers(groups),
    ...termEndHandlers(termEnds),
    ...archiveHandlers(termEnds, templates),
    ...groupHoursHandlers(groups, timeZone),
    ...groupFolderHandlers(groups),
    ...groupPageHandlers({ groups, openUrlOf: openUrlOf(parts), sessionEnd: sessionEndOf(parts) }),
  }
}

function accountHandlers(parts: HandlersParts) {
  const { accounts, addresses, browsers, config, containers, homes, key, usage } = parts
  const { spawnerUrl } = addresses
  return {
    ...authHandlers(parts),
    ...oidcHandlers(parts),
    ...renewalHandlers(parts),
    ...entryHandlers(parts),
    ...userHandlers({
      containers,
      spawnerUrl,
      measured: {
        memoryOf: (containerId) => usage.memoryOf(containerId),
        spaceOf: (user, type) => homes.diskUse.spaceOf(user, type),
      },
    }),
    ...sessionHandlers(accounts, browsers.cookie),
    ...personalDataHandlers(accounts),
    ...apiTokenHandlers(accounts),
    ...sshHandlers(parts.ssh),
    ...healthHandlers({ database: parts.database, runtime: parts.runtime, routes: containers.routeSync }),
    ...legalTextHandlers(config.branding),
    ...discoveryHandlers({ key, spawnerUrl }),
  }
}

/** Handlers of the admin pages and of the operator. */
function adminHandlers(parts: HandlersParts) {
  const { accounts, admin, containers } = parts
  return {
    ...listHandlers(admin),
    ...userDetailsHandlers(parts),
    ...blockUserHandlers(admin),
    ...containerBlockingHandlers(admin),
    ...containerSupportHandlers(admin),
    ...roleHandlers(admin),
    ...deletionHandlers(admin),
    ...apiTokenAdministrationHandlers(admin),
    ...auditHandlers(admin),
    ...invitationHandlers(accounts),
    ...takeoverHandlers(parts),
    ...templateHandlers(admin),
    ...keyHandlers(admin),
    ...operatorHandlers({ admin, accounts }),
    ...systemReportHandlers(parts),
    ...systemHistoryHandlers(containers),
  }
}

function ownerHandlers(parts: HandlersParts) {
  const { addresses, containers } = parts
  const sessionEnd = sessionEndOf(parts)
  return {
    ...containerHandlers({ containers, spawnerUrl: addresses.spawnerUrl }),
    ...containerEventHandlers(containers, sessionEnd),
    ...containerLogHandlers(containers, sessionEnd),
    containerPorts: containerPortsHandler(containers),
  }
}

function homeHandlers({ database, homes }: HandlersParts) {
  const note: NoteHome = (each, call, now) => {
    const acting = call.session?.claims.acting
    const detail = { ...each.detail, ...(acting ? { acting } : {}) }
    return noteHomeAction(database, { ...each, actor: ownerOf(call), detail }, now)
  }
  const changes = new OwnChangeLimit()
  return {
    ...snapshotHandlers({ homes, note, changes }),
    ...homeTransferHandlers({ homes, note, changes }),
    ...ownHomesHandlers({ homes, note, changes }),
    ...operatorHomeOwnerHandlers(homes),
    ...operatorSnapshotHandlers(homes),
  }
}

const openUrlOf =
  ({ config: { templates }, addresses, containers }: Rooms) =>
  ({ userId, type }: ContainerRef): string | undefined => {
    const slug = containers.routeSync.gatewayUserOf({ userId })?.slug
    const path = templates.get(type)?.openPath
    return slug && `${addresses.spawnerUrl}/${containerPrefix(slug, type)}${path ? `/${path}` : ''}`
  }

const sessionEndOf =
  ({ sessions }: Rooms) =>
  (sid: string) =>
    sessions.endOf(sid)
