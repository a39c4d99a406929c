import Type from 'typebox'
import { maxNameLength } from '../person-names.ts'
import { AdminContainer, ContainerStatus } from './administration/admin.ts'
import { Instant, MapOf, OneOf, OrNull, onePlainLine } from './shapes.ts'

/** Any text: ids that are not 1 to 15 digits are answered with 404 by the handlers. */
export const GroupParams = Type.Object({ id: Type.String() })
export const MemberParams = Type.Object({ id: Type.String(), user_id: Type.String() })

/** Max addresses in one request that adds members. */
export const maxEmails = 500

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: `^(?=.*\\S)${onePlainLine}$`, description: 'Unique' })
const Description = Type.String({ maxLength: 1000 })
const Types = OrNull(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 }), {
  description: 'Container types that limits, expiry, stop and block act on; null: every type',
})
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const ExpiresAt = OrNull(Instant, { description: 'When its types stop and refuse to launch; null: never' })

/** Per member, of containers of the group's types; null is no limit. */
const limits = {
  running: OrNull(Type.Integer({ minimum: 0, maximum: 1_000_000 }), { description: 'Containers at the same time' }),
  memory: OrNull(Bytes, { description: 'Bytes of memory of these containers together' }),
  cpus: OrNull(Type.Number({ minimum: 0, maximum: 1_000_000 }), { description: 'Cores of these containers together' }),
  gpus: OrNull(Type.Integer({ minimum: 0, maximum: 1_000_000 }), { description: 'GPUs of these containers together' }),
  disk: OrNull(Bytes, { description: 'Bytes of homes' }),
}
const SomeLimits = Type.Partial(Type.Object(limits), { description: 'A limit that is left out stays as it is' })

const Folder = Type.Object({
  name: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,38}$',
    description: 'Unique; its name in containers, below the path that their template says',
  }),
  members: OneOf(['read', 'write'], { description: 'What members may do in it' }),
})

/** Gives a group a folder, or changes its name and what members may do. */
export const FolderBody = Folder

export const FolderQuery = Type.Object({
  purge: Type.Optional(
    Type.String({
      pattern: '^(true|false)$',
      description: '`true`: what is in it is removed, too; for administrators alone',
    }),
  ),
})

export const Group = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  description: Type.String(),
  source: Type.String({
    description: '`local`, or the id of the OpenID Connect provider whose affair its members are',
  }),
  types: Types,
  limits: Type.Object(limits, { description: 'What each member may use; null is no limit' }),
  expires_at: ExpiresAt,
  member_count: Type.Integer(),
  folder: OrNull(Folder, {
    description: 'The folder that its members see in their containers; managers write to it. null: it has none',
  }),
})
export type Group = Type.Static<typeof Group>

export const GroupBody = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  types: Type.Optional(Types),
  limits: Type.Optional(SomeLimits),
  expires_at: Type.Optional(ExpiresAt),
})
/** What is left out stays as it is. */
export const GroupChanges = Type.Partial(GroupBody)
export type GroupChanges = Type.Static<typeof GroupChanges>

export const GroupResponse = Type.Object({ group: Group })

const limit = Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })
const cursor = Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })
export const GroupsQuery = Type.Object({
  limit: Type.Optional(limit),
  cursor: Type.Optional(cursor),
  q: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name' })),
})
export const GroupsResponse = Type.Object({ groups: Type.Array(Group), next_cursor: OrNull(Type.String()) })
export type GroupsResponse = Type.Static<typeof GroupsResponse>

export const GroupRole = OneOf(['member', 'manager'])
export type GroupRole = Type.Static<typeof GroupRole>

/** A group of the signed-in user. */
export const OwnGroup = Type.Object({ id: Type.Integer(), name: Type.String(), role: GroupRole })
export type OwnGroup = Type.Static<typeof OwnGroup>
export const OwnGroupsResponse = Type.Object({ groups: Type.Array(OwnGroup, { description: 'By name' }) })

/** What a list calls a person. */
export const MemberName = OrNull(Type.String(), { description: "As a manager's list has it; null: none had one" })

export const MembersQuery = Type.Object({
  limit: Type.Optional(limit),
  cursor: Type.Optional(cursor),
  is_blocked: Type.Optional(
    Type.String({
      pattern: '^(true|false)$',
      description: "Only members of whom a container of the group's types is blocked (`true`), or none (`false`)",
    }),
  ),
})
/** A member as managers see them: of their containers only those of the group's types. */
export const Member = Type.Object({
  user: Type.Object({ id: Type.Integer(), email: Type.String(), slug: Type.String() }),
  name: MemberName,
  role: GroupRole,
  containers: Type.Array(Type.Object({ ...AdminContainer.properties, status: ContainerStatus }), {
    description: "Of the group's types alone",
  }),
})
export type Member = Type.Static<typeof Member>
export const MembersResponse = Type.Object({ members: Type.Array(Member), next_cursor: OrNull(Type.String()) })
export type MembersResponse = Type.Static<typeof MembersResponse>

/** No length: one entry that is no address is refused alone, however long it is. The body has a limit. */
export const AddMembersBody = Type.Object({
  emails: Type.Array(Type.String(), { minItems: 1, maxItems: maxEmails }),
  role: Type.Optional(GroupRole),
  names: Type.Optional(
    MapOf(Type.String({ maxLength: maxNameLength, pattern: `^${onePlainLine}$` }), {
      description: 'Names by address; an empty one takes it away, and who is not in it keeps the name',
    }),
  ),
})
const addresses = (description: string) => Type.Array(Type.String(), { description })
export const AddMembersResponse = Type.Object({
  added: addresses('Known users, who are members with this role now'),
  invited: addresses('Were sent an invitation, and become members when they sign up'),
  refused: addresses('No e-mail address, not allowed to sign up, invited too often, or the mail was not accepted'),
})
export type AddMembersResponse = Type.Static<typeof AddMembersResponse>

export const StopGroupResponse = Type.Object({
  message: Type.String(),
  stopped: Type.Integer({ description: 'Containers that do not run now' }),
  failed: Type.Integer({ description: 'Containers that run on, because the engine did not stop them' }),
  under_way: Type.Integer({ description: 'Containers that were still being stopped after eight seconds' }),
})

export const JoinCodeResponse = Type.Object({
  code: Type.String(),
  expires_at: Instant,
})
/** The code that lets users in now. */
export const ActiveJoinCodeResponse = Type.Object({
  code: OrNull(Type.String(), {
    description: 'Null when there is none, and when Berth was restarted since: only its hash is stored',
  }),
  expires_at: OrNull(Instant, { description: 'Null when there is none' }),
})
export const JoinBody = Type.Object({
  code: Type.String({ maxLength: 100, description: 'Case, hyphens and spaces do not matter' }),
})
