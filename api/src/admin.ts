import Type from 'typebox'
import { Instant, OrNull } from './shapes.ts'
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

/** Page through users: `limit` 1 to 1000 (1000 when absent), `cursor` from the page before, `q` part of e-mail or slug. */
export const UsersQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$' })),
  q: Type.Optional(Type.String({ maxLength: 254 })),
})

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

/** `purge=true` removes the homes, too, at once. */
export const PurgeQuery = Type.Object({ purge: Type.Optional(Type.String({ pattern: '^(true|false)$' })) })

const Bytes = Type.Object({ total: Type.Integer(), left: Type.Integer() })

/** Seconds that half, and nine tenths, of the latest took at most. */
const Spread = Type.Object({ median: Type.Number(), p90: Type.Number() })

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
  }),
  /** Sentences for the operator: what is about to run out, and what is not as it should be. */
  warnings: Type.Array(Type.String()),
})
export type SystemReport = Type.Static<typeof SystemReport>
