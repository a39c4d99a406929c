import { endpoint, type Endpoint } from '../endpoint.ts'
import * as container from '../schemas/container.ts'
import { BlockedBody, ErrorBody, GroupLimitBody, LaunchFailedBody } from '../schemas/error.ts'
import { Message } from '../schemas/shapes.ts'

/** Actions of users on their own containers, and the streams of events and logs. */
export const containersEndpoints = {
  containerStatus: endpoint('GET /api/container/status', 'containers:read', {
    blocked: 'may read',
    anyNode: true,
    summary: 'Status of the primary container',
    response: container.StatusResponse,
    refusals: { 404: ErrorBody },
  }),
  restartContainer: endpoint('POST /api/container/restart', 'containers:write', {
    blocked: 'refused',
    summary: 'Replace the container of the default type with a new one; its home is kept',
    response: container.RestartResponse,
    refusals: { 403: BlockedBody, 404: ErrorBody, 409: GroupLimitBody, 500: LaunchFailedBody },
  }),
  restartOwnContainer: endpoint('POST /api/container/restart/{container_type}', 'containers:write', {
    blocked: 'refused',
    summary: 'Replace the container of this type with a new one; its home is kept',
    params: container.TypeParams,
    response: container.RestartResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 409: GroupLimitBody, 500: LaunchFailedBody },
  }),
  launchContainer: endpoint('POST /api/container/launch/{container_type}', 'containers:write', {
    blocked: 'refused',
    summary: 'Start the container of this type, or create it',
    params: container.TypeParams,
    body: container.LaunchBody,
    isBodyOptional: true,
    isAnyBodyAccepted: true,
    response: container.LaunchResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 409: GroupLimitBody, 500: LaunchFailedBody },
  }),
  putLinkFiles: endpoint('POST /api/container/files/{container_type}', 'user', {
    blocked: 'refused',
    summary:
      'Put the files of a Git repository into the home of a container that was launched; what its owner changed is kept beside',
    params: container.TypeParams,
    body: container.LinkFilesBody,
    response: Message,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 409: ErrorBody, 500: ErrorBody },
  }),
  stopOwnContainer: endpoint('POST /api/container/stop/{container_type}', 'containers:write', {
    blocked: 'refused',
    summary:
      'Stop the container of this type; its home is kept, and the next launch, or page at its address, starts it; requests of an open tab do not',
    params: container.TypeParams,
    response: Message,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 500: ErrorBody },
  }),
  keepContainer: endpoint('POST /api/container/keep/{container_type}', 'containers:write', {
    blocked: 'refused',
    summary: 'Restart the idle time of the container of this type',
    params: container.TypeParams,
    response: container.KeepResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 500: ErrorBody },
  }),
  containerPorts: endpoint('GET /api/container/ports/{container_type}', 'containers:read', {
    blocked: 'refused',
    guarded: true,
    summary: 'What listens in the container of this type now, with the address of each port',
    params: container.TypeParams,
    response: container.PortsResponse,
    refusals: { 400: ErrorBody, 403: BlockedBody, 404: ErrorBody, 409: ErrorBody, 500: ErrorBody },
  }),
  containerEvents: endpoint('GET /api/container/events', 'containers:read', {
    blocked: 'refused',
    guarded: true,
    summary: 'Event stream: changes of the containers of the signed-in user',
    stream: container.containerEvents,
    refusals: { 403: ErrorBody, 404: ErrorBody, 429: ErrorBody, 503: ErrorBody },
    head: false,
  }),
  containerLogs: endpoint('GET /api/container/logs/{container_type}', 'containers:read', {
    blocked: 'refused',
    guarded: true,
    summary: 'Log stream: the last lines of the container of this type, then each new one',
    params: container.TypeParams,
    query: container.LogsQuery,
    stream: container.logEvents,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 429: ErrorBody, 500: ErrorBody, 503: ErrorBody },
    head: false,
  }),
} as const satisfies Record<string, Endpoint>
