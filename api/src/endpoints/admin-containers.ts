import { endpoint, type Endpoint } from '../endpoint.ts'
import * as admin from '../schemas/administration/admin.ts'
import { LogsQuery } from '../schemas/container.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const adminRefusals = { 404: ErrorBody } as const

/** Administration of containers. */
export const adminContainersEndpoints = {
  listAllContainers: endpoint('GET /api/admin/containers', 'admin:read', {
    summary: 'Containers of all users, page by page',
    query: admin.ContainersQuery,
    response: admin.ListedContainers,
    refusals: { 400: ErrorBody },
  }),
  countContainers: endpoint('GET /api/admin/containers/count', 'admin:read', {
    anyNode: true,
    summary: 'Number of containers that match the filters',
    query: admin.ContainersCountQuery,
    response: admin.CountResponse,
    refusals: { 400: ErrorBody },
  }),
  stopContainer: endpoint('POST /api/admin/containers/{id}/stop', 'admin:write', {
    summary: 'Stop a container in use; the next launch or visit starts it',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: { 404: ErrorBody, 500: ErrorBody },
  }),
  restartUserContainer: endpoint('POST /api/admin/containers/{id}/restart', 'admin:write', {
    summary: 'Replace a container with a new one; its home is kept. It goes on after the answer; audited',
    params: admin.IdParams,
    response: Message,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  readContainerLogs: endpoint('GET /api/admin/containers/{id}/logs', 'admin:write', {
    guarded: true,
    summary: 'The last lines that the program of a container wrote since its last start; audited',
    params: admin.IdParams,
    query: LogsQuery,
    response: admin.LastLines,
    refusals: { 400: ErrorBody, 404: ErrorBody, 500: ErrorBody },
    head: false,
  }),
  blockContainer: endpoint('POST /api/admin/containers/{id}/block', 'admin:write', {
    summary: 'Block one container and stop it',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: adminRefusals,
  }),
  unblockContainer: endpoint('POST /api/admin/containers/{id}/unblock', 'admin:write', {
    summary: 'Unblock one container; it is not started',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: adminRefusals,
  }),
  bulkBlockContainers: endpoint('POST /api/admin/containers/bulk-block', 'admin:write', {
    summary: 'Block several containers and stop them',
    body: admin.BulkBody,
    response: admin.BulkResponse,
    refusals: { 400: ErrorBody },
  }),
  bulkUnblockContainers: endpoint('POST /api/admin/containers/bulk-unblock', 'admin:write', {
    summary: 'Unblock several containers',
    body: admin.BulkBody,
    response: admin.BulkResponse,
    refusals: { 400: ErrorBody },
  }),
  deleteContainer: endpoint('DELETE /api/admin/containers/{id}', 'admin:write', {
    summary: 'Delete a container and its record; its home is kept unless purged',
    params: admin.IdParams,
    query: admin.PurgeQuery,
    response: Message,
    refusals: { 400: ErrorBody, 404: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
