import type { Endpoint } from '../endpoint.ts'
import { ErrorBody } from '../schemas/error.ts'
import { HomeParams, OwnHomesResponse } from '../schemas/features/homes.ts'
import { DownloadResponse, TicketParams } from '../schemas/features/snapshots.ts'
import { Message } from '../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody, 500: ErrorBody } as const

/** Homes of the signed-in person that several types share, or that no type has any more. */
export const homesEndpoints = {
  listOwnHomes: {
    method: 'GET',
    path: '/api/user/homes',
    access: 'user',
    guarded: true,
    summary: 'Homes that several types share, and former homes, which no type has any more',
    response: OwnHomesResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody, 500: ErrorBody },
  },
  downloadHome: {
    method: 'POST',
    path: '/api/user/homes/{id}/download',
    access: 'user',
    summary: 'Where a shared or former home can be downloaded; not in a takeover',
    params: HomeParams,
    response: DownloadResponse,
    refusals,
  },
  readHomeDownload: {
    method: 'GET',
    path: '/api/user/homes/downloads/{ticket}',
    access: 'user',
    summary: 'A home as an archive, at the path that "downloadHome" answers',
    params: TicketParams,
    file: 'application/gzip',
    head: false,
    refusals,
  },
  removeFormerHome: {
    method: 'DELETE',
    path: '/api/user/homes/{id}',
    access: 'user',
    summary: 'Remove a former home with all files in it; not in a takeover',
    params: HomeParams,
    response: Message,
    refusals,
  },
} as const satisfies Record<string, Endpoint>
