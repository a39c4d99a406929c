import { endpoint, type Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import * as timetable from '../../schemas/groups/timetable.ts'
import { GroupParams } from '../../schemas/groups.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
/** Managers of the group, administrators and the operator; no API token. */
const byManagers = { forOperator: true, params: GroupParams } as const

/** Hours of a group. */
export const groupHoursEndpoints = {
  readTimetable: endpoint('GET /api/groups/{id}/timetable', 'user', {
    ...byManagers,
    guarded: true,
    summary: 'Hours of a group; for its managers and administrators',
    response: timetable.TimetableResponse,
    refusals,
  }),
  setTimetable: endpoint('POST /api/groups/{id}/timetable', 'user', {
    ...byManagers,
    summary:
      'Replace the hours of a group: when containers are started before lessons, and when they stop; for its managers and administrators',
    body: timetable.TimetableBody,
    response: timetable.TimetableResponse,
    refusals: { 400: ErrorBody, ...refusals },
  }),
} as const satisfies Record<string, Endpoint>
