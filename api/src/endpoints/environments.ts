import type { Endpoint } from '../endpoint.ts'
import * as environments from '../schemas/environments.ts'
import { UpdateContainersBody } from '../schemas/administration/admin.ts'
import { ErrorBody, LaunchFailedBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
const changeRefusals = { 400: ErrorBody, ...refusals, 409: ErrorBody } as const
/** Administrators, the operator, and managers of the group of the environment where `ENVIRONMENTS` says so. */
const reads = { access: 'user', forOperator: true, scope: 'admin:read', guarded: true } as const
const writes = { access: 'user', forOperator: true, scope: 'admin:write' } as const
/** Of a container of their own, which the operator does not have. */
const ownWrites = { access: 'user', scope: 'admin:write' } as const

/** Images that Berth builds, for templates that name them. */
export const environmentsEndpoints = {
  listEnvironments: {
    ...reads,
    method: 'GET',
    path: '/api/admin/environments',
    summary: 'Environments, page by page; for managers those of their groups',
    query: environments.EnvironmentsQuery,
    response: environments.EnvironmentsResponse,
    refusals: { 400: ErrorBody, ...refusals },
  },
  createEnvironment: {
    ...writes,
    method: 'POST',
    path: '/api/admin/environments',
    summary: 'Make an environment; nothing is built yet',
    body: environments.EnvironmentBody,
    response: environments.EnvironmentResponse,
    refusals: changeRefusals,
  },
  checkEnvironmentSource: {
    ...writes,
    method: 'POST',
    path: '/api/admin/environment-checks',
    summary: 'Check what an environment would be built from, without building it',
    body: environments.SourceCheckBody,
    response: environments.SourceCheckResponse,
    refusals: changeRefusals,
  },
  readEnvironment: {
    ...reads,
    method: 'GET',
    path: '/api/admin/environments/{name}',
    summary: 'One environment with its versions',
    params: environments.EnvironmentParams,
    response: environments.EnvironmentResponse,
    refusals,
  },
  changeEnvironment: {
    ...writes,
    method: 'PATCH',
    path: '/api/admin/environments/{name}',
    summary: 'Change an environment; what is left out stays as it is, and nothing is built',
    params: environments.EnvironmentParams,
    body: environments.EnvironmentChanges,
    response: environments.EnvironmentResponse,
    refusals: changeRefusals,
  },
  deleteEnvironment: {
    ...writes,
    method: 'DELETE',
    path: '/api/admin/environments/{name}',
    summary: 'Delete an environment that no template uses; its images go when no container uses them',
    params: environments.EnvironmentParams,
    response: Message,
    refusals: { ...refusals, 409: ErrorBody },
  },
  buildEnvironment: {
    ...writes,
    method: 'POST',
    path: '/api/admin/environments/{name}/build',
    status: 202,
    summary: 'Build the next version, one at a time for each environment',
    params: environments.EnvironmentParams,
    response: environments.BuildResponse,
    refusals: changeRefusals,
  },
  readBuildLog: {
    ...reads,
    method: 'GET',
    path: '/api/admin/environments/{name}/versions/{version}/log',
    file: 'text/plain; charset=utf-8',
    needsSession: true,
    summary: 'Output of a build; while it is built, as a stream that ends with it',
    params: environments.VersionParams,
    refusals,
  },
  publishVersion: {
    ...writes,
    method: 'POST',
    path: '/api/admin/environments/{name}/versions/{version}/publish',
    summary: 'Launch this version from now on, an older one just as well',
    params: environments.VersionParams,
    response: environments.EnvironmentResponse,
    refusals: { ...refusals, 409: ErrorBody },
  },
  tryVersion: {
    ...ownWrites,
    method: 'POST',
    path: '/api/admin/environments/{name}/versions/{version}/try',
    summary:
      'Launch a version that is ready in a container of your own, without a home; it goes when it is stopped, and after an hour',
    params: environments.VersionParams,
    response: environments.TryResponse,
    refusals: { 400: ErrorBody, ...refusals, 409: ErrorBody, 500: LaunchFailedBody },
  },
  endTrial: {
    ...ownWrites,
    method: 'DELETE',
    path: '/api/admin/environments/{name}/trial',
    summary: 'Remove the container in which you try a version',
    params: environments.EnvironmentParams,
    response: Message,
    refusals: { ...refusals, 409: ErrorBody },
  },
  listOlder: {
    ...reads,
    method: 'GET',
    path: '/api/admin/environments/{name}/older',
    summary: 'Containers that run an older version of an environment',
    params: environments.EnvironmentParams,
    response: environments.OlderResponse,
    refusals,
  },
  updateOlder: {
    ...writes,
    method: 'POST',
    path: '/api/admin/environments/{name}/update',
    summary: 'Bring containers of an older version of an environment up to date',
    params: environments.EnvironmentParams,
    body: UpdateContainersBody,
    response: Message,
    refusals: { 400: ErrorBody, ...refusals },
  },
  cancelBuild: {
    ...writes,
    method: 'POST',
    path: '/api/admin/environments/{name}/versions/{version}/cancel',
    summary: 'End a build that waits or runs',
    params: environments.VersionParams,
    response: environments.EnvironmentResponse,
    refusals: { ...refusals, 409: ErrorBody },
  },
} as const satisfies Record<string, Endpoint>
