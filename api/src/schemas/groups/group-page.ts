import Type from 'typebox'
import { ContainerEvent } from '../container.ts'
import { Group } from '../groups.ts'
import { Instant, OneOf, OrNull } from '../shapes.ts'

/** Of the page of a group: what its managers see of members while they work, and what they start. */

const containerType = Type.String({ maxLength: 100, description: 'A type of the group' })

/** A container of a member as managers see it; nothing of its files, its log or its traffic. */
export const MemberContainer = Type.Object({
  type: Type.String(),
  status: ContainerEvent.properties.status,
  message: OrNull(Type.String(), { description: 'Why it does not run, or why its launch failed' }),
  stage: OrNull(OneOf(['queued', 'pulling', 'creating', 'starting', 'waiting', 'failed']), {
    description: 'Stage of a launch that is in progress, or has failed within ten minutes',
  }),
  place: OrNull(Type.Integer(), { description: 'Position in the launch queue; updated every five seconds' }),
  has_output: Type.Boolean({ description: 'The last lines of a failed start can be read' }),
  look: OrNull(
    Type.Object({
      state: OneOf(['asked', 'open', 'declined'], {
        description:
          '`asked`: the member has not answered yet; `open`: the manager may look; `declined`: the manager cannot ask this member before `until`',
      }),
      until: Instant,
      url: OrNull(Type.String(), { description: 'Where the container opens, while the manager may look' }),
    }),
    { description: 'What the manager whose page this is has asked the member; null: nothing, or it is over' },
  ),
})

export const MemberState = Type.Object({
  user_id: Type.Integer(),
  is_here: Type.Boolean({
    description:
      "A page of Berth is open and visible, or a container of the group's types was used within five minutes",
  }),
  containers: Type.Array(MemberContainer, { description: "Of the group's types alone, by type" }),
})
export type MemberState = Type.Static<typeof MemberState>

/** Events of `GET /api/groups/{id}/events`, by name. */
export const groupEvents = {
  snapshot: Type.Object({}, { description: 'Discard what was received before: the state of all members follows' }),
  members: Type.Object(
    { members: Type.Array(MemberState, { maxItems: 100 }) },
    { description: 'Present state of these members; others are as before' },
  ),
  changed: Type.Object({}, { description: 'Members, roles or the group have changed: read the list of members again' }),
} as const

/** A group as its managers see it. */
export const ManagedGroupResponse = Type.Object({
  group: Group,
  types: Type.Array(
    Type.Object({
      type: Type.String(),
      display_name: Type.String(),
      may_ask_to_look: Type.Boolean({
        description: 'The caller manages the group, and its members can be asked for a look at such containers',
      }),
    }),
    {
      description: 'Configured types of the group, in the configured order',
    },
  ),
  folder_path: OrNull(Type.String(), {
    description:
      'Path in containers below which folders of groups are, by the first type that shows them; null: none does',
  }),
  folder_bytes: OrNull(Type.Integer(), {
    description: 'What the folder of the group takes on the disk, at the last measurement; null: none, or not measured',
  }),
  folder_type: OrNull(Type.String(), {
    description:
      'Type in whose container the caller finds the folder; null without one, and for administrators who do not manage the group',
  }),
})
export type ManagedGroupResponse = Type.Static<typeof ManagedGroupResponse>

export const StartBody = Type.Object({ container_type: containerType })
export const MemberContainerParams = Type.Object({
  id: Type.String(),
  user_id: Type.String(),
  container_type: Type.String(),
})

export const FailureResponse = Type.Object({
  message: Type.String({ description: 'Why the start failed' }),
  exit_code: OrNull(Type.Integer()),
  last_lines: Type.Array(Type.String(), { description: 'Last lines of the output of the program, at most 50' }),
})
export type FailureResponse = Type.Static<typeof FailureResponse>
