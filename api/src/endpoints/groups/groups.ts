import { endpoint, type Endpoint } from '../../endpoint.ts'
import { ErrorBody } from '../../schemas/error.ts'
import * as groups from '../../schemas/groups.ts'
import { Message } from '../../schemas/shapes.ts'

const refusals = { 403: ErrorBody, 404: ErrorBody } as const
const writeRefusals = { ...refusals, 409: ErrorBody } as const
/** Managers of the group, administrators and the operator; no API token. */
const byManagers = { forOperator: true, params: groups.GroupParams } as const

/** Groups, for administrators; a group's members and folder, for its managers; and one's own groups. */
export const groupsEndpoints = {
  listGroups: endpoint('GET /api/admin/groups', 'admin:read', {
    anyNode: true,
    summary: 'All groups, page by page',
    query: groups.GroupsQuery,
    response: groups.GroupsResponse,
    refusals: { 400: ErrorBody },
  }),
  createGroup: endpoint('POST /api/admin/groups', 'admin:write', {
    summary: 'Make a group',
    body: groups.GroupBody,
    response: groups.GroupResponse,
    refusals: { 400: ErrorBody, 409: ErrorBody },
  }),
  readGroup: endpoint('GET /api/admin/groups/{id}', 'admin:read', {
    summary: 'One group',
    params: groups.GroupParams,
    response: groups.GroupResponse,
    refusals: { 404: ErrorBody },
  }),
  changeGroup: endpoint('PATCH /api/admin/groups/{id}', 'admin:write', {
    summary: 'Change a group; what is left out stays as it is',
    params: groups.GroupParams,
    body: groups.GroupChanges,
    response: groups.GroupResponse,
    refusals: { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody },
  }),
  deleteGroup: endpoint('DELETE /api/admin/groups/{id}', 'admin:write', {
    summary: 'Delete a group; users, containers and homes stay, and what its block blocked is released',
    params: groups.GroupParams,
    response: Message,
    refusals: { 404: ErrorBody },
  }),
  listOwnGroups: endpoint('GET /api/groups', 'containers:read', {
    anyNode: true,
    summary: 'Groups of the signed-in user',
    response: groups.OwnGroupsResponse,
    refusals,
  }),
  joinGroup: endpoint('POST /api/groups/join', 'user', {
    summary: 'Become a member by a join code; ten wrong ones a minute',
    body: groups.JoinBody,
    response: groups.GroupResponse,
    refusals: { 400: ErrorBody, ...writeRefusals, 429: ErrorBody },
  }),
  listMembers: endpoint('GET /api/groups/{id}/members', 'user', {
    ...byManagers,
    guarded: true,
    summary: 'Members of a group with their containers of its types, page by page; for its managers and administrators',
    query: groups.MembersQuery,
    response: groups.MembersResponse,
    refusals: { 400: ErrorBody, ...refusals },
  }),
  addMembers: endpoint('POST /api/groups/{id}/members', 'user', {
    ...byManagers,
    summary:
      'Add known users to a group, or change their role, and invite other addresses; for its managers and administrators',
    body: groups.AddMembersBody,
    response: groups.AddMembersResponse,
    refusals: { 400: ErrorBody, ...writeRefusals, 429: ErrorBody },
  }),
  removeMember: endpoint('DELETE /api/groups/{id}/members/{user_id}', 'user', {
    ...byManagers,
    summary: 'Remove a member from a group; for its managers and administrators',
    params: groups.MemberParams,
    response: Message,
    refusals: writeRefusals,
  }),
  readJoinCode: endpoint('GET /api/groups/{id}/join-code', 'user', {
    ...byManagers,
    guarded: true,
    summary: 'The join code that lets users in now; for its managers and administrators',
    response: groups.ActiveJoinCodeResponse,
    refusals,
  }),
  createJoinCode: endpoint('POST /api/groups/{id}/join-code', 'user', {
    ...byManagers,
    summary: 'Make a join code, which replaces the one before; for its managers and administrators',
    response: groups.JoinCodeResponse,
    refusals: writeRefusals,
  }),
  deleteJoinCode: endpoint('DELETE /api/groups/{id}/join-code', 'user', {
    ...byManagers,
    summary: 'Remove the join code of a group; for its managers and administrators',
    response: Message,
    refusals,
  }),
  stopGroup: endpoint('POST /api/groups/{id}/stop', 'user', {
    ...byManagers,
    summary: "Stop all members' containers of the group's types; for its managers and administrators",
    response: groups.StopGroupResponse,
    refusals,
  }),
  blockGroup: endpoint('POST /api/groups/{id}/block', 'user', {
    ...byManagers,
    summary: "Block and stop all members' containers of the group's types; for its managers and administrators",
    response: Message,
    refusals,
  }),
  unblockGroup: endpoint('POST /api/groups/{id}/unblock', 'user', {
    ...byManagers,
    summary: 'Release what the block of the group has blocked; for its managers and administrators',
    response: Message,
    refusals,
  }),
  setGroupFolder: endpoint('PUT /api/groups/{id}/folder', 'user', {
    ...byManagers,
    summary:
      'Give a group a folder that its members see in their containers, or change its name and what they may do; for its managers and administrators',
    body: groups.FolderBody,
    response: groups.GroupResponse,
    refusals: { 400: ErrorBody, ...writeRefusals },
  }),
  removeGroupFolder: endpoint('DELETE /api/groups/{id}/folder', 'user', {
    ...byManagers,
    summary:
      'Take the folder of a group away; what is in it is kept unless an administrator purges it; for its managers and administrators',
    query: groups.FolderQuery,
    response: Message,
    refusals: { 400: ErrorBody, ...refusals },
  }),
} as const satisfies Record<string, Endpoint>
