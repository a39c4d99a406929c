import type { Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import { FolderBody, FolderQuery, GroupParams, GroupResponse } from '../../schemas/groups.ts'
import { Message } from '../../schemas/shapes.ts'

/** Managers of the group, administrators and the operator; no API token. */
const byManagers = {
  access: 'user',
  forOperator: true,
  path: '/api/groups/{id}/folder',
  params: GroupParams,
} as const

/** The folder of a group. */
export const groupFolderEndpoints = {
  setGroupFolder: {
    ...byManagers,
    method: 'PUT',
    summary:
      'Give a group a folder that its members see in their containers, or change its name and what they may do; for its managers and administrators',
    body: FolderBody,
    response: GroupResponse,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  },
  removeGroupFolder: {
    ...byManagers,
    method: 'DELETE',
    summary:
      'Take the folder of a group away; what is in it is kept unless an administrator purges it; for its managers and administrators',
    query: FolderQuery,
    response: Message,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody },
  },
} as const satisfies Record<string, Endpoint>
