import { apiTokenAdministrationHandlers } from '#/http/handlers/api-token-handlers.ts'
import {
  auditHandlers,
  systemHistoryHandlers,
  systemReportHandlers,
  templateHandlers,
} from '#/http/handlers/admin-system-handlers.ts'
import {
  blockUserHandlers,
  containerBlockingHandlers,
  deletionHandlers,
  invitationHandlers,
  listHandlers,
  roleHandlers,
} from '#/http/handlers/admin-handlers.ts'
import { keyHandlers, operatorHandlers } from '#/http/handlers/operator-handlers.ts'
import { takeoverHandlers } from '#/http/handlers/auth-handlers.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { AppParts } from './app-parts.ts'
import type { Accounts } from './wire-accounts.ts'
import type { Administration } from './wire-administration.ts'
import type { TemplateAdministration } from './wire-templates.ts'
import type { Browsers } from './wire-browsers.ts'
import type { Containers } from './wire-containers.ts'
import type { Reconciling } from './wire-reconciling.ts'
import type { Tokens } from './wire-tokens.ts'

/** The use cases that these handlers call. */
export interface AdminContext {
  readonly tokens: Tokens
  readonly accounts: Accounts
  readonly containers: Containers
  readonly administration: Administration
  readonly templates: TemplateAdministration
  readonly reconciling: Reconciling
  readonly browsers: Browsers
  readonly findings: () => readonly LocalizedMessage[]
}

/** Handlers of the admin pages and of the operator. */
export function adminHandlers({ config, nodes }: AppParts, context: AdminContext) {
  const { tokens, accounts, containers, administration, templates, reconciling, browsers, findings } = context
  return {
    ...listHandlers({ lists: administration.lists }),
    ...blockUserHandlers({ blocking: administration.userBlocking, previews: administration.blockPreviews }),
    ...containerBlockingHandlers({ blocking: administration.containerBlocking }),
    ...roleHandlers({ rights: administration.rights, verification: administration.verification }),
    ...deletionHandlers({ deletion: administration.deletion }),
    ...apiTokenAdministrationHandlers({ apiTokens: administration.apiTokens }),
    ...auditHandlers({ audit: administration.audit }),
    ...invitationHandlers({ invite: accounts.invite }),
    ...takeoverHandlers({
      ownContainers: containers.ownContainers,
      takeover: administration.takeover,
      authenticator: accounts.authenticator,
      endSessions: administration.endSessions,
      renewSession: tokens.renewSession,
      browserSession: browsers.browserSession,
      cookie: browsers.cookie,
      impersonatorSession: browsers.impersonatorSession,
    }),
    ...templateHandlers(templates),
    ...keyHandlers({ rotateKeys: accounts.rotateKeys }),
    ...operatorHandlers({
      printLink: administration.printLink,
      apiTokens: accounts.apiTokens,
      stopping: administration.stopContainer,
    }),
    ...systemReportHandlers({
      reconciler: reconciling.reconciler,
      containerReconciler: reconciling.containerReconciler,
      admission: containers.admission,
      capacity: containers.capacity,
      hostResources: containers.hostResources,
      diskUse: containers.diskUse,
      mailStatistics: accounts.mailStatistics,
      routeSync: containers.routeSync,
      nodes,
      findings,
      maxRunning: config.maxRunning,
    }),
    ...systemHistoryHandlers({ history: containers.history }),
  }
}
