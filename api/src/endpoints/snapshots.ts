import type { Endpoint } from '../endpoint.ts'
import { IdParams } from '../schemas/administration/admin.ts'
import { TypeParams } from '../schemas/container.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'
import * as snapshots from '../schemas/features/snapshots.ts'

/** Archives of homes. */
const archives = ['application/x-tar', 'application/gzip'] as const

const refusals = { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody } as const

const operatorRefusals = { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody } as const

/** Snapshots of one's own homes, archives into and out of them, and the operator's work on those of all. */
export const snapshotsEndpoints = {
  listSnapshots: {
    method: 'GET',
    path: '/api/container/snapshots/{container_type}',
    access: 'user',
    scope: 'containers:read',
    guarded: true,
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
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
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
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  },
  resetHome: {
    method: 'POST',
    path: '/api/container/reset/{container_type}',
    access: 'user',
    scope: 'containers:write',
    summary: 'Make a snapshot of the home and remove the home: the next launch begins with the starter files',
    params: TypeParams,
    response: snapshots.SnapshotResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
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
  downloadSnapshot: {
    method: 'POST',
    path: '/api/container/snapshots/{container_type}/{id}/download',
    access: 'user',
    scope: 'containers:read',
    summary: 'Where a snapshot can be downloaded; not in a takeover',
    params: snapshots.SnapshotParams,
    response: snapshots.DownloadResponse,
    refusals: { ...refusals, 409: ErrorBody },
  },
  readDownload: {
    method: 'GET',
    path: '/api/container/downloads/{ticket}',
    access: 'user',
    scope: 'containers:read',
    summary:
      'A snapshot as an archive, at the path that "downloadSnapshot" answers; takes the headers `Range` and `If-Range`',
    params: snapshots.TicketParams,
    file: archives[1],
    inParts: true,
    head: false,
    refusals: { 403: ErrorBody, 404: ErrorBody, 429: ErrorBody },
  },
  uploadHome: {
    method: 'POST',
    path: '/api/container/upload/{container_type}',
    access: 'user',
    scope: 'containers:write',
    summary: 'Unpack an archive (tar or tar.gz) into a new folder of the home; nothing is overwritten',
    params: TypeParams,
    upload: archives,
    response: snapshots.UploadResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  },
  listFolders: {
    method: 'GET',
    path: '/api/container/folders/{container_type}',
    access: 'user',
    scope: 'containers:read',
    guarded: true,
    summary: 'What takes room in the home of this type',
    params: TypeParams,
    query: snapshots.FoldersQuery,
    response: snapshots.FoldersResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  },
  listSnapshotsFor: {
    method: 'GET',
    path: '/api/operator/containers/{id}/snapshots',
    access: 'operator',
    summary: 'Snapshots of the home of a container',
    params: IdParams,
    response: snapshots.SnapshotsResponse,
    refusals: { 404: ErrorBody },
  },
  takeSnapshotFor: {
    method: 'POST',
    path: '/api/operator/containers/{id}/snapshots',
    access: 'operator',
    summary: 'Make a snapshot of the home of a container',
    params: IdParams,
    response: snapshots.SnapshotResponse,
    refusals: operatorRefusals,
  },
  restoreSnapshotFor: {
    method: 'POST',
    path: '/api/operator/containers/{id}/snapshots/{snapshot}/restore',
    access: 'operator',
    summary: 'Put a snapshot, or a part of it, into a new folder of its home',
    params: snapshots.OperatorSnapshotParams,
    body: snapshots.RestoreBody,
    isBodyOptional: true,
    response: snapshots.RestoreResponse,
    refusals: operatorRefusals,
  },
  removeSnapshotFor: {
    method: 'DELETE',
    path: '/api/operator/containers/{id}/snapshots/{snapshot}',
    access: 'operator',
    summary: 'Remove a snapshot',
    params: snapshots.OperatorSnapshotParams,
    response: Message,
    refusals: operatorRefusals,
  },
} as const satisfies Record<string, Endpoint>
