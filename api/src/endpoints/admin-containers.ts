import type { Endpoint } from '../endpoint.ts'
import * as admin from '../schemas/administration/admin.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

const adminRefusals = { 404: ErrorBody } as const

/** Administration of containers. */
export const adminContainersEndpoints = {
  listAllContainers: {
    method: 'GET',
    path: '/api/admin/containers',
    access: 'admin',
    scope: 'admin:read',
    summary: 'Containers of all users, page by page',
    query: admin.ContainersQuery,
    response: admin.ListedContainers,
    refusals: { 400: ErrorBody },
  },
  countContainers: {
    method: 'GET',
    path: '/api/admin/containers/count',
    access: 'admin',
    scope: 'admin:read',
    anyNode: true,
    summary: 'Number of containers that match the filters',
    query: admin.ContainersCountQuery,
    response: admin.CountResponse,
    refusals: { 400: ErrorBody },
  },
  stopContainer: {
    method: 'POST',
    path: '/api/admin/containers/{id}/stop',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Stop a container in use; the next launch or visit starts it',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: { 404: ErrorBody, 500: ErrorBody },
  },
  blockContainer: {
    method: 'POST',
    path: '/api/admin/containers/{id}/block',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Block one container and stop it',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: adminRefusals,
  },
  unblockContainer: {
    method: 'POST',
    path: '/api/admin/containers/{id}/unblock',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Unblock one container; it is not started',
    params: admin.IdParams,
    response: admin.ContainerResponse,
    refusals: adminRefusals,
  },
  bulkBlockContainers: {
    method: 'POST',
    path: '/api/admin/containers/bulk-block',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Block several containers and stop them',
    body: admin.BulkBody,
    response: admin.BulkResponse,
    refusals: { 400: ErrorBody },
  },
  bulkUnblockContainers: {
    method: 'POST',
    path: '/api/admin/containers/bulk-unblock',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Unblock several containers',
    body: admin.BulkBody,
    response: admin.BulkResponse,
    refusals: { 400: ErrorBody },
  },
  deleteContainer: {
    method: 'DELETE',
    path: '/api/admin/containers/{id}',
    access: 'admin',
    scope: 'admin:write',
    summary: 'Delete a container and its record; its home is kept unless purged',
    params: admin.IdParams,
    query: admin.PurgeQuery,
    response: Message,
    refusals: { 400: ErrorBody, 404: ErrorBody },
  },
} as const satisfies Record<string, Endpoint>
