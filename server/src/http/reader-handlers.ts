import { endpoints, type AnyNodeName, type Endpoint, type EndpointName } from '@berth/api/endpoints.ts'
import { ApiTokens } from '#/accounts/api-tokens.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { AdminLists, ApiTokenAdministration, AuditReader } from '#/admin/admin-lists.ts'
import {
  StatusLookups,
  statusWords,
  type OwnContainers,
  type StatusLookup,
} from '#/containers/routes/own-containers.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Templates } from '#/templates/template.ts'
import { apiTokenAdministrationHandlers, apiTokenHandlers } from './handlers/api-token-handlers.ts'
import { userHandlers, type Measured } from './handlers/account-handlers.ts'
import { auditHandlers } from './handlers/admin-system-handlers.ts'
import { listHandlers } from './handlers/admin-handlers.ts'
import { containerStatusHandlers } from './handlers/container-handlers.ts'
import { discoveryHandlers } from './handlers/system-handlers.ts'
import { listGroupsHandler, listOwnGroupsHandler } from './handlers/group-handlers.ts'
import type { Handlers } from './handlers/call.ts'
import { listSharedHandler } from './handlers/sharing-handlers.ts'
import { listShared, type SharingSettings } from '#/sharing/shares.ts'
import { listGroupsPage } from '#/groups/group-administration.ts'
import type { Database } from '#/store/database.ts'
import { listGroupsOf } from '#/store/group-members.ts'

/** Rows that any node answers. */
export const anyNodeNames = Object.entries<Endpoint>(endpoints).flatMap(([name, { anyNode }]) =>
  anyNode ? [name as AnyNodeName] : [],
)

/** Their paths. */
export const anyNodePaths = anyNodeNames.map((name) => endpoints[name].path)

export interface ReaderHandlersParts {
  readonly database: Database
  readonly ownContainers: OwnContainers
  readonly key: Pick<SigningKeys, 'jwks'>
  readonly spawnerUrl: string
  readonly measured: Measured
  readonly templates: Templates
  readonly sharing: SharingSettings
  readonly hasContainerHosts: boolean
}

/** The handlers of these rows; a row without one does not compile. */
export function readerHandlers(parts: ReaderHandlersParts): Handlers {
  const { database, ownContainers, key, spawnerUrl, measured, templates, sharing, hasContainerHosts } = parts
  const { db } = database
  const lists = listHandlers({ lists: new AdminLists(db, noStatuses) })
  const handlers: Pick<Handlers, AnyNodeName> = {
    ...userHandlers({ containers: { ownContainers }, spawnerUrl, measured }),
    ...containerStatusHandlers({ ownContainers }),
    ...discoveryHandlers({ key, spawnerUrl }),
    listUsers: lists.listUsers,
    countUsers: lists.countUsers,
    // By a status, which the leader knows, it is passed on.
    countContainers: lists.countContainers,
    listSharedContainers: listSharedHandler({ templates, spawnerUrl, hasContainerHosts }, (visitor, now) =>
      listShared({ settings: sharing, database, templates }, visitor, now),
    ),
    listAudit: auditHandlers({ audit: new AuditReader(db) }).listAudit,
    listGroups: listGroupsHandler((page, q) => listGroupsPage(db, page, q)),
    listOwnGroups: listOwnGroupsHandler((userId) => listGroupsOf(db, userId)),
    listApiTokens: apiTokenHandlers({ apiTokens: new ApiTokens(database, noStreams) }).listApiTokens,
    listAllApiTokens: apiTokenAdministrationHandlers({ apiTokens: new ApiTokenAdministration(database, noStreams) })
      .listAllApiTokens,
  }
  // The server asks for those of `anyNodeNames` alone.
  return handlers as Handlers & Record<EndpointName, never>
}

/** Lists of containers, whose statuses the leader knows, are not among these rows. */
const noStatuses = {
  of: () => notHere('the status of a container'),
  withStatus: () => notHere('the status of a container'),
}
const noStreams = { endSession: () => notHere('the end of a stream') }

function notHere(what: string): never {
  throw new Error(`${what} is the leader's to know`)
}

/**
 * Statuses of containers that the engine has. One that it does not have, or says nothing of, is the leader's to explain: a follower
 * may not have heard yet of a pod that the leader has created, or not reach an engine that the leader reaches.
 */
export function knownStatuses(
  runtime: Pick<Runtime, 'inspectId' | 'list' | 'capabilities'>,
): Pick<StatusLookups, 'of' | 'ofEach'> {
  const lookups = new StatusLookups(runtime)
  const absent = runtime.capabilities.keepsStopped ? statusWords.notFound : statusWords.stopped
  const known = (lookup: StatusLookup): StatusLookup => {
    if ('failure' in lookup || lookup.state === absent)
      throw new Error('the leader explains a container that is not found')
    return lookup
  }
  return {
    of: async (id) => known(await lookups.of(id)),
    ofEach: async (ids) => {
      const found = await lookups.ofEach(ids)
      for (const lookup of found.values()) known(lookup)
      return found
    },
  }
}
