import { endpoint, type Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import * as page from '../../schemas/groups/group-page.ts'
import { LookRequestParams } from '../../schemas/features/sharing.ts'
import { Message } from '../../schemas/shapes.ts'

/** A manager of a group asks a member to let them look at a container. No API token asks or answers: a person decides. */
export const looksEndpoints = {
  askToLook: endpoint('POST /api/groups/{id}/members/{user_id}/look/{container_type}', 'user', {
    summary:
      "Ask a member for a look at a container of a type of the group; the request is shown on the member's dashboard for five minutes; for managers of the group",
    params: page.MemberContainerParams,
    response: Message,
    refusals: { 400: ErrorBody, 403: ErrorBody, 404: ErrorBody, 409: ErrorBody, 429: ErrorBody },
  }),
  agreeToLook: endpoint('POST /api/user/look-requests/{id}/agree', 'user', {
    summary: 'Let the manager who asked look at the container, for an hour at most',
    params: LookRequestParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  declineLook: endpoint('POST /api/user/look-requests/{id}/decline', 'user', {
    summary: 'Decline a look; the manager cannot ask again for 30 minutes',
    params: LookRequestParams,
    response: Message,
    refusals: { 403: ErrorBody, 404: ErrorBody },
  }),
} as const satisfies Record<string, Endpoint>
