import { personalDataHandlers, sessionHandlers, userHandlers } from './handlers/account-handlers.ts'
import { adminHandlers } from './handlers/admin-handlers.ts'
import { adminSystemHandlers } from './handlers/admin-system-handlers.ts'
import { apiTokenAdministrationHandlers, apiTokenHandlers } from './handlers/api-token-handlers.ts'
import { authHandlers } from './handlers/auth-handlers.ts'
import type { Handlers, HandlersParts } from './handlers/call.ts'
import { ownContainerHandlers } from './handlers/container-handlers.ts'
import { environmentHandlers } from './handlers/environment-handlers.ts'
import { groupHandlers } from './handlers/group-handlers.ts'
import { groupPageHandlers, lookHandlers } from './handlers/group-page-handlers.ts'
import { oidcHandlers } from './handlers/oidc-handlers.ts'
import { operatorHandlers } from './handlers/operator-handlers.ts'
import { sharingHandlers } from './handlers/sharing-handlers.ts'
import { homeHandlers } from './handlers/snapshot-handlers.ts'
import { sshHandlers } from './handlers/ssh-handlers.ts'
import { discoveryHandlers, healthHandlers, legalTextHandlers } from './handlers/system-handlers.ts'
import { archiveHandlers, termEndHandlers } from './handlers/term-end-handlers.ts'

/** Every handler of the endpoint table. */
export function allHandlers(parts: HandlersParts): Handlers {
  const { accounts, admin, browsers, config, containers, database, homes, key, runtime, sharing, usage } = parts
  const { spawnerUrl } = parts.addresses
  const { termEnds } = parts.groups
  const measured = {
    memoryOf: (containerId: string) => usage.memoryOf(containerId),
    spaceOf: homes.diskUse.spaceOf.bind(homes.diskUse),
  }
  return {
    ...authHandlers(parts),
    ...oidcHandlers(parts),
    ...userHandlers({ containers, spawnerUrl, measured }),
    ...sessionHandlers(accounts, browsers.cookie),
    ...personalDataHandlers(accounts),
    ...apiTokenHandlers(accounts),
    ...sshHandlers(parts.ssh),
    ...ownContainerHandlers(parts),
    ...homeHandlers(parts),
    ...sharingHandlers(parts),
    ...lookHandlers(sharing),
    ...groupHandlers(parts),
    ...groupPageHandlers(parts),
    ...termEndHandlers(termEnds),
    ...archiveHandlers(termEnds, config.templates),
    ...environmentHandlers(parts),
    ...adminHandlers(parts),
    ...adminSystemHandlers(parts),
    ...apiTokenAdministrationHandlers(admin),
    ...operatorHandlers(parts),
    ...healthHandlers({ database, runtime, routes: containers.routeSync }),
    ...legalTextHandlers(config.branding),
    ...discoveryHandlers({ key, spawnerUrl }),
  }
}
