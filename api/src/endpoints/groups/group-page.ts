import { endpoint, type Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import * as page from '../../schemas/groups/group-page.ts'
import * as groups from '../../schemas/groups.ts'
import { Message } from '../../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
const writeRefusals = { ...refusals, 409: ErrorBody } as const
/** Managers of the group, administrators and the operator; no API token. */
const byManagers = { forOperator: true, params: groups.GroupParams } as const

/** The page of a group: what its managers see while members work, and what they start and end. */
export const groupPageEndpoints = {
  readManagedGroup: endpoint('GET /api/groups/{id}', 'user', {
    ...byManagers,
    guarded: true,
    summary: 'One group, with its configured types; for its managers and administrators',
    response: page.ManagedGroupResponse,
    refusals,
  }),
  groupEvents: endpoint('GET /api/groups/{id}/events', 'user', {
    guarded: true,
    summary:
      "Event stream: which members are here, and what their containers of the group's types do; for its managers and administrators",
    params: groups.GroupParams,
    stream: page.groupEvents,
    refusals: { ...refusals, 429: ErrorBody, 503: ErrorBody },
    head: false,
  }),
  startGroup: endpoint('POST /api/groups/{id}/start', 'user', {
    ...byManagers,
    summary:
      'Start the containers of a type of all members, behind launches that users ask for; for its managers and administrators',
    body: page.StartBody,
    response: Message,
    refusals: { 400: ErrorBody, ...refusals },
  }),
  restartMember: endpoint('POST /api/groups/{id}/members/{user_id}/restart/{container_type}', 'user', {
    ...byManagers,
    summary:
      "Replace a member's container of a type of the group with a new one; its home is kept; for its managers and administrators",
    params: page.MemberContainerParams,
    response: Message,
    refusals: { 400: ErrorBody, ...writeRefusals },
  }),
  readMemberFailure: endpoint('GET /api/groups/{id}/members/{user_id}/failure/{container_type}', 'user', {
    ...byManagers,
    guarded: true,
    summary:
      "Why the last start of a member's container of a type of the group failed, with the last lines of its output, for ten minutes; audited; for its managers and administrators",
    params: page.MemberContainerParams,
    response: page.FailureResponse,
    refusals: { 400: ErrorBody, ...refusals },
    head: false,
  }),
  endGroup: endpoint('POST /api/groups/{id}/end', 'user', {
    ...byManagers,
    summary:
      'End a group now: its types stop and refuse to launch, homes stay; an administrator can undo it; for its managers and administrators',
    response: groups.GroupResponse,
    refusals,
  }),
} as const satisfies Record<string, Endpoint>
