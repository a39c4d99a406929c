import Type from 'typebox'
import { Instant, OneOf, OrNull } from './shapes.ts'
import { UserState } from './user.ts'

/** Any text: ids that are not 1 to 15 digits are answered with 404 by the handlers. */
export const IdParams = Type.Object({ id: Type.String() })

/** A container record as administrators see it. */
export const AdminContainer = Type.Object({
  id: Type.Integer(),
  user_id: Type.Integer(),
  container_type: Type.String(),
  container_id: OrNull(Type.String()),
  container_port: OrNull(Type.Integer()),
  template_image: Type.String(),
  created_at: Instant,
  last_used: OrNull(Instant),
  is_blocked: Type.Boolean(),
  blocked_at: OrNull(Instant),
  blocked_by: OrNull(Type.Integer()),
})
export type AdminContainer = Type.Static<typeof AdminContainer>

/** An account as administrators see it, with all its containers. */
export const AdminUser = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  slug: Type.String(),
  state: UserState,
  is_admin: Type.Boolean(),
  is_blocked: Type.Boolean(),
  last_used: OrNull(Instant),
  created_at: Instant,
  containers: Type.Array(AdminContainer),
})
export type AdminUser = Type.Static<typeof AdminUser>

const Flag = Type.String({ pattern: '^(true|false)$' })
/** From the page before, and only good with the same filters and order. */
const Cursor = Type.String({ pattern: '^[\\w-]{1,700}$' })
const Limit = Type.String({ pattern: '^\\d{1,4}$' })

const usersFilter = {
  /** Part of the e-mail address or of the slug. */
  q: Type.Optional(Type.String({ maxLength: 254 })),
  state: Type.Optional(UserState),
  is_admin: Type.Optional(Flag),
  is_blocked: Type.Optional(Flag),
}

/** A minus in front turns the order round. What was never used (`last_used` null) comes last, either way; `email` of a
 * container is its owner's. */
export const ListOrder = OneOf(['id', '-id', 'email', '-email', 'last_used', '-last_used', 'created_at', '-created_at'])
export type ListOrder = Type.Static<typeof ListOrder>

/** Page through users: `limit` 1 to 1000 (1000 when absent), `sort` by id when absent. */
export const UsersQuery = Type.Object({
  limit: Type.Optional(Limit),
  cursor: Type.Optional(Cursor),
  sort: Type.Optional(ListOrder),
  ...usersFilter,
})
/** How many there are of whom `UsersQuery` with the same filters shows pages. */
export const UsersCountQuery = Type.Object(usersFilter)
export const CountResponse = Type.Object({ count: Type.Integer() })

export const UsersResponse = Type.Object({ users: Type.Array(AdminUser), next_cursor: OrNull(Type.String()) })
export type UsersResponse = Type.Static<typeof UsersResponse>

export const ContainerResponse = Type.Object({ message: Type.String(), container: AdminContainer })
export type ContainerResponse = Type.Static<typeof ContainerResponse>

/** 1 to 1,000 ids of container records; the same id twice counts once. */
export const BulkBody = Type.Object({
  container_ids: Type.Array(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }), {
    minItems: 1,
    maxItems: 1000,
  }),
})

export const BulkResponse = Type.Object({
  message: Type.String(),
  containers: Type.Array(AdminContainer),
  not_found: Type.Array(Type.Integer()),
})
export type BulkResponse = Type.Static<typeof BulkResponse>

export const UserResponse = Type.Object({ message: Type.String(), user: AdminUser })
export type UserResponse = Type.Static<typeof UserResponse>

/** 1 to 1,000 ids of users; the same id twice counts once. */
export const BulkUsersBody = Type.Object({
  user_ids: Type.Array(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 }), { minItems: 1, maxItems: 1000 }),
})

/** Whom a rule protects, such as the last administrator, is in `refused`, with a sentence that says which; all others are done. */
export const BulkUsersResponse = Type.Object({
  message: Type.String(),
  users: Type.Array(AdminUser),
  not_found: Type.Array(Type.Integer()),
  refused: Type.Array(Type.Object({ id: Type.Integer(), error: Type.String() })),
})
export type BulkUsersResponse = Type.Static<typeof BulkUsersResponse>

/** What blocking a user would do now. Their own sessions stay: they can read what happened, and open and start nothing. */
export const BlockPreview = Type.Object({
  /** Sessions that would end: those in which they act for somebody else. */
  sessions: Type.Integer(),
  containers: Type.Array(
    Type.Object({
      id: Type.Integer(),
      container_type: Type.String(),
      /** Runs now, and would be stopped. */
      is_running: Type.Boolean(),
      /** Blocked already by itself; unblocking the user would leave it so. */
      is_blocked: Type.Boolean(),
    }),
  ),
})
export type BlockPreview = Type.Static<typeof BlockPreview>

/** Where a container stands, as far as Berth knows without asking the engine. */
export const ContainerStatus = OneOf(['running', 'paused', 'stopped', 'missing', 'failed', 'unknown'])
export type ContainerStatus = Type.Static<typeof ContainerStatus>

/** A row of the table of all containers: the record, whose it is, and where it stands. */
export const ListedContainer = Type.Object({
  ...AdminContainer.properties,
  email: Type.String(),
  slug: Type.String(),
  status: ContainerStatus,
})
export type ListedContainer = Type.Static<typeof ListedContainer>

const containersFilter = {
  /** Part of the owner's e-mail address or slug. */
  q: Type.Optional(Type.String({ maxLength: 254 })),
  container_type: Type.Optional(Type.String({ maxLength: 64 })),
  is_blocked: Type.Optional(Flag),
  status: Type.Optional(ContainerStatus),
}

/** Page through all containers: `limit` 1 to 1000 (100 when absent), `sort` by id when absent. */
export const ContainersQuery = Type.Object({
  limit: Type.Optional(Limit),
  cursor: Type.Optional(Cursor),
  sort: Type.Optional(ListOrder),
  ...containersFilter,
})
export const ContainersCountQuery = Type.Object(containersFilter)
export const ListedContainers = Type.Object({
  containers: Type.Array(ListedContainer),
  next_cursor: OrNull(Type.String()),
})
export type ListedContainers = Type.Static<typeof ListedContainers>

/** `purge=true` removes the homes, too, at once. */
export const PurgeQuery = Type.Object({ purge: Type.Optional(Type.String({ pattern: '^(true|false)$' })) })

const Bytes = Type.Object({ total: Type.Integer(), left: Type.Integer() })

/** Seconds that half, and nine tenths, of the latest took at most. */
const Spread = Type.Object({ median: Type.Number(), p90: Type.Number() })

/** A mail that the mail server did not take. Without its link, and without what it said of people beside the addressee. */
export const MailFailure = Type.Object({
  at: Instant,
  to: Type.String(),
  kind: Type.Union([Type.Literal('signup'), Type.Literal('login')]),
  /** What the mail server said, or why it could not be asked: one line. */
  reason: Type.String(),
})
export type MailFailure = Type.Static<typeof MailFailure>

/** How things were at one moment, and what happened since the moment before. Null is "not known". */
export const HistorySample = Type.Object({
  at: Instant,
  running: Type.Integer(),
  waiting: Type.Integer(),
  /** Launches that went well, and that did not. */
  launched: Type.Integer(),
  failed: Type.Integer(),
  memory_left: OrNull(Type.Integer()),
  disk_left: OrNull(Type.Integer()),
  /** Seconds from the request to the running container, of those launched. */
  ready_seconds: OrNull(Spread),
})
export type HistorySample = Type.Static<typeof HistorySample>

/** The last day, the oldest first: a sample a minute for the last two hours, and one in ten minutes before; the last is of this moment. Since the process began at most. */
export const HistoryResponse = Type.Object({ samples: Type.Array(HistorySample) })
export type HistoryResponse = Type.Static<typeof HistoryResponse>

/** What an operator looks at when something seems wrong. Null is "not known". */
export const SystemReport = Type.Object({
  reconciler: Type.Object({
    /** The end of the last run that left nothing to do. */
    last_success: OrNull(Instant),
    last_run: OrNull(Instant),
    duration_ms: OrNull(Type.Integer()),
    is_engine_answering: Type.Boolean(),
    /** How often each kind of action was done since the process began. */
    actions: Type.Record(Type.String(), Type.Integer()),
    /** What the last run left to do, and why. */
    failures: Type.Array(Type.String()),
  }),
  launches: Type.Object({ waiting: Type.Integer(), under_way: Type.Integer(), parallel: Type.Integer() }),
  containers: Type.Object({
    /** Running or paused. */
    running: Type.Integer(),
    most: OrNull(Type.Integer()),
    addresses_left: OrNull(Type.Integer()),
  }),
  host: Type.Object({ memory: OrNull(Bytes), disk: OrNull(Bytes), rules: Type.String() }),
  /** Since the process began. */
  mail: Type.Object({
    accepted: Type.Integer(),
    failed: Type.Integer(),
    /** Links that were mailed because somebody asked for them, and used. */
    used: Type.Integer(),
    /** From the moment at which the mail server accepted the mail. */
    seconds_to_use: OrNull(Spread),
    seconds_to_accept: OrNull(Spread),
    last_failure_at: OrNull(Instant),
    /** The latest mails that were not accepted, the newest first; 50 at most, since the process began. */
    failures: Type.Array(MailFailure),
  }),
  /** Sentences for the operator: what is about to run out, and what is not as it should be. */
  warnings: Type.Array(Type.String()),
})
export type SystemReport = Type.Static<typeof SystemReport>
