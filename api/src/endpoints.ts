import type Type from 'typebox'
import { accountEndpoints } from './endpoints/account.ts'
import { adminContainersEndpoints } from './endpoints/admin-containers.ts'
import { adminSystemEndpoints } from './endpoints/admin-system.ts'
import { adminUsersEndpoints } from './endpoints/admin-users.ts'
import { apiTokenEndpoints } from './endpoints/api-tokens.ts'
import { authEndpoints } from './endpoints/auth.ts'
import { containersEndpoints } from './endpoints/containers.ts'
import { environmentsEndpoints } from './endpoints/environments.ts'
import { groupHoursEndpoints } from './endpoints/groups/group-hours.ts'
import { groupInvitationsEndpoints } from './endpoints/groups/group-invitations.ts'
import { groupPageEndpoints } from './endpoints/groups/group-page.ts'
import { groupsEndpoints } from './endpoints/groups/groups.ts'
import { looksEndpoints } from './endpoints/groups/looks.ts'
import { termEndEndpoints } from './endpoints/groups/term-end.ts'
import { oidcEndpoints } from './endpoints/oidc.ts'
import { operatorEndpoints } from './endpoints/operator.ts'
import { sharingEndpoints } from './endpoints/sharing.ts'
import { snapshotsEndpoints } from './endpoints/snapshots.ts'
import { sshEndpoints } from './endpoints/ssh.ts'
import { systemEndpoints } from './endpoints/system.ts'

export type { Access, Blocked, Endpoint, Refusals } from './endpoint.ts'

/**
 * Endpoint table: the whole API, by subject in `endpoints/`. A new endpoint starts with a row there; `http/` does not
 * compile until it has a handler, and the access test covers it by itself.
 */
export const endpoints = {
  ...authEndpoints,
  ...oidcEndpoints,
  ...accountEndpoints,
  ...apiTokenEndpoints,
  ...sshEndpoints,
  ...containersEndpoints,
  ...snapshotsEndpoints,
  ...adminUsersEndpoints,
  ...adminContainersEndpoints,
  ...adminSystemEndpoints,
  ...environmentsEndpoints,
  ...groupsEndpoints,
  ...sharingEndpoints,
  ...groupPageEndpoints,
  ...looksEndpoints,
  ...groupInvitationsEndpoints,
  ...groupHoursEndpoints,
  ...termEndEndpoints,
  ...operatorEndpoints,
  ...systemEndpoints,
}

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

/** Endpoints that any of several nodes may answer. */
export type AnyNodeName = {
  [N in EndpointName]: Endpoints[N] extends { readonly anyNode: true } ? N : never
}[EndpointName]

type StaticOf<E, K extends string> = E extends { readonly [key in K]: infer S extends Type.TSchema }
  ? Type.Static<S>
  : undefined

/** What a caller sends to an endpoint, part by part; parts the table does not name are `undefined`. */
export type Params<N extends EndpointName> = StaticOf<Endpoints[N], 'params'>
export type Query<N extends EndpointName> = StaticOf<Endpoints[N], 'query'>
export type Body<N extends EndpointName> = StaticOf<Endpoints[N], 'body'>
/** Endpoints whose answer is a stream of events, and all others. */
export type StreamName = {
  [N in EndpointName]: Endpoints[N] extends { readonly stream: unknown } ? N : never
}[EndpointName]
/** Endpoints that lead a browser on. */
export type RedirectName = {
  [N in EndpointName]: Endpoints[N] extends { readonly redirects: string } ? N : never
}[EndpointName]
/** Endpoints that answer with a file, and those that take one. */
export type FileName = {
  [N in EndpointName]: Endpoints[N] extends { readonly file: string } ? N : never
}[EndpointName]
export type UploadName = {
  [N in EndpointName]: Endpoints[N] extends { readonly upload: readonly string[] } ? N : never
}[EndpointName]
export type JsonName = Exclude<EndpointName, StreamName | RedirectName | FileName>
/** What an endpoint answers with 200. */
export type Answer<N extends JsonName> = Type.Static<Endpoints[N]['response']>
