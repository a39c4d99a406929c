import { apiTokenAdministrationHandlers } from '#/http/handlers/api-token-administration-handlers.ts'
import { auditHandlers } from '#/http/handlers/audit-handlers.ts'
import { containerBlockingHandlers } from '#/http/handlers/container-blocking-handlers.ts'
import { deletionHandlers } from '#/http/handlers/deletion-handlers.ts'
import { invitationHandlers } from '#/http/handlers/invitation-handlers.ts'
import { keyHandlers } from '#/http/handlers/key-handlers.ts'
import { listHandlers } from '#/http/handlers/list-handlers.ts'
import { operatorHandlers } from '#/http/handlers/operator-handlers.ts'
import { roleHandlers } from '#/http/handlers/role-handlers.ts'
import { systemHistoryHandlers } from '#/http/handlers/system-history-handlers.ts'
import { systemReportHandlers } from '#/http/handlers/system-report-handlers.ts'
import { templateHandlers } from '#/http/handlers/template-handlers.ts'
import { takeoverHandlers } from '#/http/handlers/takeover-handlers.ts'
import { blockUserHandlers } from '#/http/handlers/user-blocking-handlers.ts'
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
