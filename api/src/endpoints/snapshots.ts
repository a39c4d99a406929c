import { endpoint, type Endpoint } from '../endpoint.ts'
import { IdParams } from '../schemas/administration/admin.ts'
import { TypeParams } from '../schemas/container.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'
import * as snapshots from '../schemas/features/snapshots.ts'

/** Archives of homes. */
const archives = ['application/x-tar', 'application/gzip'] as const

const refusals = { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody } as const

const operatorRefusals = { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody } as const

const homeRefusals = { 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody } as const

/**
 * Snapshots of one's own homes, archives into and out of them, and the operator's work on those of all; homes that several
 * types of a person share, or that no type has any more.
 */
export const snapshotsEndpoints = {
  listSnapshots: endpoint('GET /api/container/snapshots/{container_type}', 'containers:read', {
    guarded: true,
    summary: 'Snapshots of the home of this type',
    params: TypeParams,
    response: snapshots.SnapshotsResponse,
    refusals,
  }),
  takeSnapshot: endpoint('POST /api/container/snapshots/{container_type}', 'containers:write', {
    summary: 'Make a snapshot of the home of this type; its container does not run meanwhile',
    params: TypeParams,
    response: snapshots.SnapshotResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  restoreSnapshot: endpoint('POST /api/container/snapshots/{container_type}/{id}/restore', 'containers:write', {
    summary: 'Put a snapshot, or a part of it, into a new folder of the home; nothing is overwritten',
    params: snapshots.SnapshotParams,
    body: snapshots.RestoreBody,
    isBodyOptional: true,
    response: snapshots.RestoreResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  resetHome: endpoint('POST /api/container/reset/{container_type}', 'containers:write', {
    summary: 'Make a snapshot of the home and remove the home: the next launch begins with the starter files',
    params: TypeParams,
    response: snapshots.SnapshotResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  removeSnapshot: endpoint('DELETE /api/container/snapshots/{container_type}/{id}', 'containers:write', {
    summary: 'Remove a snapshot',
    params: snapshots.SnapshotParams,
    response: Message,
    refusals,
  }),
  downloadSnapshot: endpoint('POST /api/container/snapshots/{container_type}/{id}/download', 'containers:read', {
    summary: 'Where a snapshot can be downloaded; not in a takeover',
    params: snapshots.SnapshotParams,
    response: snapshots.DownloadResponse,
    refusals: { ...refusals, 409: ErrorBody },
  }),
  readDownload: endpoint('GET /api/container/downloads/{ticket}', 'containers:read', {
    summary:
      'A snapshot as an archive, at the path that "downloadSnapshot" answers; takes the headers `Range` and `If-Range`',
    params: snapshots.TicketParams,
    file: archives[1],
    inParts: true,
    head: false,
    refusals: { 403: ErrorBody, 404: ErrorBody, 429: ErrorBody },
  }),
  uploadHome: endpoint('POST /api/container/upload/{container_type}', 'containers:write', {
    summary: 'Unpack an archive (tar or tar.gz) into a new folder of the home; nothing is overwritten',
    params: TypeParams,
    upload: archives,
    response: snapshots.UploadResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  listFolders: endpoint('GET /api/container/folders/{container_type}', 'containers:read', {
    guarded: true,
    summary: 'What takes room in the home of this type',
    params: TypeParams,
    query: snapshots.FoldersQuery,
    response: snapshots.FoldersResponse,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  downloadFile: endpoint('POST /api/container/files/{container_type}/download', 'containers:read', {
    summary: 'Where a file or folder of the home of this type can be downloaded; not in a takeover',
    params: TypeParams,
    body: snapshots.FileBody,
    response: snapshots.FileDownloadResponse,
    refusals: { ...refusals, 409: ErrorBody },
  }),
  readFile: endpoint('GET /api/container/file-downloads/{ticket}', 'containers:read', {
    summary:
      'A file of a home, or a folder as a tar archive, at the path that "downloadFile" answers, once; its container does not run meanwhile, and a launch ends it',
    params: snapshots.TicketParams,
    file: 'application/octet-stream',
    head: false,
    refusals: { 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  removeFile: endpoint('DELETE /api/container/files/{container_type}', 'containers:write', {
    summary:
      'Delete a file of the home of this type, or a folder with all that is in it; its container is stopped. Docker leaves an empty file of its name',
    params: TypeParams,
    query: snapshots.FileQuery,
    response: Message,
    refusals: { ...refusals, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody },
  }),
  listSnapshotsFor: endpoint('GET /api/operator/containers/{id}/snapshots', 'operator', {
    summary: 'Snapshots of the home of a container',
    params: IdParams,
    response: snapshots.SnapshotsResponse,
    refusals: { 404: ErrorBody },
  }),
  takeSnapshotFor: endpoint('POST /api/operator/containers/{id}/snapshots', 'operator', {
    summary: 'Make a snapshot of the home of a container',
    params: IdParams,
    response: snapshots.SnapshotResponse,
    refusals: operatorRefusals,
  }),
  restoreSnapshotFor: endpoint('POST /api/operator/containers/{id}/snapshots/{snapshot}/restore', 'operator', {
    summary: 'Put a snapshot, or a part of it, into a new folder of its home',
    params: snapshots.OperatorSnapshotParams,
    body: snapshots.RestoreBody,
    isBodyOptional: true,
    response: snapshots.RestoreResponse,
    refusals: operatorRefusals,
  }),
  changeHomeOwnerFor: endpoint('POST /api/operator/containers/{id}/home-owner', 'operator', {
    summary: 'Give the home of a container to another account, while no container with it runs; it may take minutes',
    params: IdParams,
    body: snapshots.HomeOwnerBody,
    isBodyOptional: true,
    response: snapshots.HomeOwnerResponse,
    refusals: operatorRefusals,
  }),
  readHomeOwnerProgressFor: endpoint('GET /api/operator/containers/{id}/home-owner', 'operator', {
    summary: 'How far the change of the owner of the home of a container is',
    params: IdParams,
    response: snapshots.HomeOwnerProgress,
    refusals: { 404: ErrorBody },
  }),
  removeSnapshotFor: endpoint('DELETE /api/operator/containers/{id}/snapshots/{snapshot}', 'operator', {
    summary: 'Remove a snapshot',
    params: snapshots.OperatorSnapshotParams,
    response: Message,
    refusals: operatorRefusals,
  }),
  listOwnHomes: endpoint('GET /api/user/homes', 'user', {
    guarded: true,
    summary: 'Homes that several types share, and former homes, which no type has any more',
    response: snapshots.OwnHomesResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody, 500: ErrorBody },
  }),
  downloadHome: endpoint('POST /api/user/homes/{id}/download', 'user', {
    summary: 'Where a shared or former home can be downloaded; not in a takeover',
    params: snapshots.HomeParams,
    response: snapshots.DownloadResponse,
    refusals: homeRefusals,
  }),
  readHomeDownload: endpoint('GET /api/user/homes/downloads/{ticket}', 'user', {
    summary: 'A home as an archive, at the path that "downloadHome" answers',
    params: snapshots.TicketParams,
    file: 'application/gzip',
    head: false,
    refusals: homeRefusals,
  }),
  removeFormerHome: endpoint('DELETE /api/user/homes/{id}', 'user', {
    summary: 'Remove a former home with all files in it; not in a takeover',
    params: snapshots.HomeParams,
    response: Message,
    refusals: homeRefusals,
  }),
} as const satisfies Record<string, Endpoint>
