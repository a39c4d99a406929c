import { endpoint, type Endpoint } from '../endpoint.ts'
import { PersonalDataResponse } from '../schemas/personal-data.ts'
import * as sessions from '../schemas/sessions.ts'
import * as user from '../schemas/user.ts'
import { ErrorBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

/** The signed-in user: account, containers, sessions. */
export const accountEndpoints = {
  me: endpoint('GET /api/user/me', 'containers:read', {
    blocked: 'may read',
    anyNode: true,
    summary: 'The signed-in user and their primary container',
    response: user.MeResponse,
    refusals: { 404: ErrorBody },
  }),
  listContainers: endpoint('GET /api/user/containers', 'containers:read', {
    blocked: 'may read',
    anyNode: true,
    summary: 'One entry for each configured container type',
    response: user.ContainersResponse,
    refusals: { 404: ErrorBody },
  }),
  exportOwnData: endpoint('GET /api/user/data', 'user', {
    blocked: 'may read',
    guarded: true,
    summary: 'Everything that is kept about the signed-in user',
    response: PersonalDataResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody, 429: ErrorBody },
  }),
  listSessions: endpoint('GET /api/user/sessions', 'user', {
    blocked: 'may read',
    guarded: true,
    summary: 'Sessions of the signed-in user, and takeovers within `KEEP_TAKEOVERS` (30 days unless set)',
    response: sessions.SessionsResponse,
    refusals: { 404: ErrorBody },
  }),
  endSession: endpoint('DELETE /api/user/sessions/{id}', 'user', {
    blocked: 'may read',
    summary: 'End one session of the signed-in user',
    params: sessions.SessionParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
  endOtherSessions: endpoint('POST /api/user/sessions/end-others', 'user', {
    blocked: 'may read',
    summary: 'End all sessions of the signed-in user except the current one',
    response: sessions.EndOthersResponse,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
