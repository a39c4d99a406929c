import type { Endpoint } from '../endpoint.ts'
import { TypeParams } from '../schemas/container.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'
import * as snapshots from '../schemas/features/snapshots.ts'

const refusals = { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody } as const

/** Snapshots of one's own homes. */
export const snapshotsEndpoints = {
  listSnapshots: {
    method: 'GET',
    path: '/api/container/snapshots/{container_type}',
    access: 'user',
    scope: 'containers:read',
    summary: 'Snapshots of the home of this type',
    params: TypeParams,
    response: snapshots.SnapshotsResponse,
    refusals,
  },
  takeSnapshot: {
    method: 'POST',
    path: '/api/container/snapshots/{container_type}',
    access: 'user',
    scope: 'containers:write',
    summary: 'Make a snapshot of the home of this type; its container does not run meanwhile',
    params: TypeParams,
    response: snapshots.SnapshotResponse,
    refusals: { ...refusals, 409: ErrorBody, 500: ErrorBody },
  },
  restoreSnapshot: {
    method: 'POST',
    path: '/api/container/snapshots/{container_type}/{id}/restore',
    access: 'user',
    scope: 'containers:write',
    summary: 'Put a snapshot, or a part of it, into a new folder of the home; nothing is overwritten',
    params: snapshots.SnapshotParams,
    body: snapshots.RestoreBody,
    isBodyOptional: true,
    response: snapshots.RestoreResponse,
    refusals: { ...refusals, 409: ErrorBody, 500: ErrorBody },
  },
  resetHome: {
    method: 'POST',
    path: '/api/container/reset/{container_type}',
    access: 'user',
    scope: 'containers:write',
    summary: 'Make a snapshot of the home and remove the home: the next launch begins with the starter files',
    params: TypeParams,
    response: snapshots.SnapshotResponse,
    refusals: { ...refusals, 409: ErrorBody, 500: ErrorBody },
  },
  removeSnapshot: {
    method: 'DELETE',
    path: '/api/container/snapshots/{container_type}/{id}',
    access: 'user',
    scope: 'containers:write',
    summary: 'Remove a snapshot',
    params: snapshots.SnapshotParams,
    response: Message,
    refusals,
  },
} as const satisfies Record<string, Endpoint>
