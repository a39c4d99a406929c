import { endpoint, type Endpoint } from '../endpoint.ts'
import * as environments from '../schemas/environments.ts'
import { UpdateContainersBody } from '../schemas/administration/admin.ts'
import { ErrorBody, LaunchFailedBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
const changeRefusals = { 400: ErrorBody, ...refusals, 409: ErrorBody } as const
/** Administrators, the operator, and managers of the group of the environment where `ENVIRONMENTS` says so. */
const reads = { forOperator: true, scope: 'admin:read', guarded: true } as const
const writes = { forOperator: true, scope: 'admin:write' } as const
/** Of a container of their own, which the operator does not have. */
const ownWrites = { scope: 'admin:write' } as const

/** Images that Berth builds, for templates that name them. */
export const environmentsEndpoints = {
  listEnvironments: endpoint('GET /api/admin/environments', 'user', {
    ...reads,
    summary: 'Environments, page by page; for managers those of their groups',
    query: environments.EnvironmentsQuery,
    response: environments.EnvironmentsResponse,
    refusals: { 400: ErrorBody, ...refusals },
  }),
  createEnvironment: endpoint('POST /api/admin/environments', 'user', {
    ...writes,
    summary: 'Make an environment; nothing is built yet',
    body: environments.EnvironmentBody,
    response: environments.EnvironmentResponse,
    refusals: changeRefusals,
  }),
  checkEnvironmentSource: endpoint('POST /api/admin/environment-checks', 'user', {
    ...writes,
    summary: 'Check what an environment would be built from, without building it',
    body: environments.SourceCheckBody,
    response: environments.SourceCheckResponse,
    refusals: changeRefusals,
  }),
  readEnvironment: endpoint('GET /api/admin/environments/{name}', 'user', {
    ...reads,
    summary: 'One environment with its versions',
    params: environments.EnvironmentParams,
    response: environments.EnvironmentResponse,
    refusals,
  }),
  changeEnvironment: endpoint('PATCH /api/admin/environments/{name}', 'user', {
    ...writes,
    summary: 'Change an environment; what is left out stays as it is, and nothing is built',
    params: environments.EnvironmentParams,
    body: environments.EnvironmentChanges,
    response: environments.EnvironmentResponse,
    refusals: changeRefusals,
  }),
  deleteEnvironment: endpoint('DELETE /api/admin/environments/{name}', 'user', {
    ...writes,
    summary: 'Delete an environment that no template uses; its images go when no container uses them',
    params: environments.EnvironmentParams,
    response: Message,
    refusals: { ...refusals, 409: ErrorBody },
  }),
  buildEnvironment: endpoint('POST /api/admin/environments/{name}/build', 'user', {
    ...writes,
    status: 202,
    summary: 'Build the next version, one at a time for each environment',
    params: environments.EnvironmentParams,
    response: environments.BuildResponse,
    refusals: changeRefusals,
  }),
  readBuildLog: endpoint('GET /api/admin/environments/{name}/versions/{version}/log', 'user', {
    ...reads,
    file: 'text/plain; charset=utf-8',
    needsSession: true,
    summary: 'Output of a build; while it is built, as a stream that ends with it',
    params: environments.VersionParams,
    refusals,
  }),
  publishVersion: endpoint('POST /api/admin/environments/{name}/versions/{version}/publish', 'user', {
    ...writes,
    summary: 'Launch this version from now on, an older one just as well',
    params: environments.VersionParams,
    response: environments.EnvironmentResponse,
    refusals: { ...refusals, 409: ErrorBody },
  }),
  tryVersion: endpoint('POST /api/admin/environments/{name}/versions/{version}/try', 'user', {
    ...ownWrites,
    summary:
      'Launch a version that is ready in a container of your own, without a home; it goes when it is stopped, and after an hour',
    params: environments.VersionParams,
    response: environments.TryResponse,
    refusals: { 400: ErrorBody, ...refusals, 409: ErrorBody, 500: LaunchFailedBody },
  }),
  endTrial: endpoint('DELETE /api/admin/environments/{name}/trial', 'user', {
    ...ownWrites,
    summary: 'Remove the container in which you try a version',
    params: environments.EnvironmentParams,
    response: Message,
    refusals: { ...refusals, 409: ErrorBody },
  }),
  listOlder: endpoint('GET /api/admin/environments/{name}/older', 'user', {
    ...reads,
    summary: 'Containers that run an older version of an environment',
    params: environments.EnvironmentParams,
    response: environments.OlderResponse,
    refusals,
  }),
  updateOlder: endpoint('POST /api/admin/environments/{name}/update', 'user', {
    ...writes,
    summary: 'Bring containers of an older version of an environment up to date',
    params: environments.EnvironmentParams,
    body: UpdateContainersBody,
    response: Message,
    refusals: { 400: ErrorBody, ...refusals },
  }),
  cancelBuild: endpoint('POST /api/admin/environments/{name}/versions/{version}/cancel', 'user', {
    ...writes,
    summary: 'End a build that waits or runs',
    params: environments.VersionParams,
    response: environments.EnvironmentResponse,
    refusals: { ...refusals, 409: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
