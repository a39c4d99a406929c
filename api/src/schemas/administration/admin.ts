import Type from 'typebox'
import { Instant, OneOf, OrNull } from '../shapes.ts'
import { UserState } from '../user.ts'

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
  home_problem: Type.Optional(
    Type.Object(
      { program: Type.Integer(), owner: Type.Integer() },
      { description: 'Accounts, by their numbers: its program cannot write to its home, which belongs to the other' },
    ),
  ),
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
  extra_disk_bytes: Type.Optional(
    Type.Integer({ description: 'Bytes that the homes may have beyond every disk limit; absent: none' }),
  ),
  containers: Type.Array(AdminContainer),
})
export type AdminUser = Type.Static<typeof AdminUser>

export const ExtraDiskBody = Type.Object({
  bytes: Type.Integer({
    minimum: 0,
    maximum: 2 ** 50,
    description: 'That the homes of this user may have beyond every disk limit; 0 takes it away',
  }),
})

const Flag = Type.String({ pattern: '^(true|false)$' })
const Cursor = Type.String({
  pattern: '^[\\w-]{1,700}$',
  description: '`next_cursor` of the page before; valid with the same filters and order only',
})
const limit = (byDefault: number) =>
  Type.String({ pattern: '^\\d{1,4}$', description: `Rows of a page, 1 to 1000; default ${byDefault}` })

const usersFilter = {
  q: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address or of the slug' })),
  state: Type.Optional(UserState),
  is_admin: Type.Optional(Flag),
  is_blocked: Type.Optional(Flag),
}

export const ListOrder = OneOf(
  ['id', '-id', 'email', '-email', 'last_used', '-last_used', 'created_at', '-created_at'],
  {
    description:
      'Order, `id` by default; a minus reverses it. Rows without `last_used` come last in both directions; `email` of a container is its owner’s',
  },
)
export type ListOrder = Type.Static<typeof ListOrder>

export const UsersQuery = Type.Object({
  limit: Type.Optional(limit(1000)),
  cursor: Type.Optional(Cursor),
  sort: Type.Optional(ListOrder),
  ...usersFilter,
})
/** How many there are of whom `UsersQuery` with the same filters shows pages. */
export const UsersCountQuery = Type.Object(usersFilter)
export const CountResponse = Type.Object({ count: Type.Integer() })

export const UsersResponse = Type.Object({ users: Type.Array(AdminUser), next_cursor: OrNull(Type.String()) })
export type UsersResponse = Type.Static<typeof UsersResponse>

export const LastLines = Type.Object({
  lines: Type.Array(Type.String(), { description: 'Oldest first, each at most 500 characters' }),
})

export const ContainerResponse = Type.Object({ message: Type.String(), container: AdminContainer })
export type ContainerResponse = Type.Static<typeof ContainerResponse>

/**
 * 1 to 1,000 ids. A number that no record has, such as 0, is unknown and no error: all others are done. Beyond the bounds
 * JSON numbers are inexact, and PostgreSQL refuses them from 2^63 on.
 */
const BulkIds = Type.Array(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }), {
  minItems: 1,
  maxItems: 1000,
})

/** Ids of container records; the same id twice counts once. */
export const BulkBody = Type.Object({ container_ids: BulkIds })

export const BulkResponse = Type.Object({
  message: Type.String(),
  containers: Type.Array(AdminContainer),
  not_found: Type.Array(Type.Integer()),
})
export type BulkResponse = Type.Static<typeof BulkResponse>

export const UserResponse = Type.Object({ message: Type.String(), user: AdminUser })
export type UserResponse = Type.Static<typeof UserResponse>

/** Ids of users; the same id twice counts once. */
export const BulkUsersBody = Type.Object({ user_ids: BulkIds })

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
  sessions: Type.Integer({ description: 'Takeover sessions of the user that would end' }),
  containers: Type.Array(
    Type.Object({
      id: Type.Integer(),
      container_type: Type.String(),
      is_running: Type.Boolean({ description: 'It runs now and would be stopped' }),
      is_blocked: Type.Boolean({ description: 'It is blocked by itself; unblocking the user leaves it blocked' }),
    }),
  ),
})
export type BlockPreview = Type.Static<typeof BlockPreview>

export const ContainerStatus = OneOf(['running', 'paused', 'stopped', 'missing', 'failed', 'unknown'], {
  description:
    'Status without a query to the engine. `stopped`: idle, ended without an error, retired or blocked; `missing`: only the record exists, the next launch creates the container; `failed`: its program ended with an error or ran out of memory, or its last launch failed, until the next launch or restart of Berth; `unknown`: the engine does not respond, or the type is not configured any more',
})
export type ContainerStatus = Type.Static<typeof ContainerStatus>

/** A row of the table of all containers: the record, whose it is, and where it stands. */
export const ListedContainer = Type.Object({
  ...AdminContainer.properties,
  email: Type.String(),
  slug: Type.String(),
  status: ContainerStatus,
})
export type ListedContainer = Type.Static<typeof ListedContainer>

/** Everything about one account that an administrator needs at hand. */
export const UserDetails = Type.Object({
  user: AdminUser,
  containers: Type.Array(
    Type.Object({
      ...ListedContainer.properties,
      home_bytes: Type.Optional(
        Type.Integer({ description: 'Size of its home at the last measurement; absent while there is none' }),
      ),
    }),
  ),
  groups: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String(), role: OneOf(['member', 'manager']) }), {
    description: 'By name',
  }),
  sessions: Type.Array(
    Type.Object({
      created_at: Instant,
      last_used: Instant,
      browser: OrNull(Type.String(), { description: 'E.g. `Firefox on Windows`; null for an unknown client' }),
      taken_over_by: OrNull(Type.String(), { description: 'E-mail address of the administrator of a takeover' }),
    }),
    { description: 'Those that are live, the newest first, at most 100 of the owner’s and 100 takeovers' },
  ),
})
export type UserDetails = Type.Static<typeof UserDetails>

const containersFilter = {
  q: Type.Optional(Type.String({ maxLength: 254, description: 'Part of the e-mail address or slug of the owner' })),
  container_type: Type.Optional(Type.String({ maxLength: 64 })),
  is_blocked: Type.Optional(Flag),
  status: Type.Optional(ContainerStatus),
}

export const ContainersQuery = Type.Object({
  limit: Type.Optional(limit(100)),
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

export const PurgeQuery = Type.Object({
  purge: Type.Optional(
    Type.String({ pattern: '^(true|false)$', description: '`true` also deletes the homes, immediately and for good' }),
  ),
})

const Bytes = Type.Object({ total: Type.Integer(), left: Type.Integer() })

/** Percentiles 50 and 90, in seconds. */
const Percentiles = Type.Object({
  median: Type.Number({ description: 'Seconds' }),
  p90: Type.Number({ description: 'Seconds' }),
})

/** A mail that the mail server did not take. Without its link, and without what it said of people beside the addressee. */
export const MailFailure = Type.Object({
  at: Instant,
  to: Type.String(),
  kind: Type.Union([Type.Literal('signup'), Type.Literal('login')]),
  reason: Type.String({ description: 'Answer of the mail server, or why it could not be reached' }),
})
export type MailFailure = Type.Static<typeof MailFailure>

/** How things were at one moment, and what happened since the moment before. Null is "not known". */
export const HistorySample = Type.Object({
  at: Instant,
  running: Type.Integer(),
  waiting: Type.Integer(),
  launched: Type.Integer({ description: 'Successful launches since the sample before' }),
  failed: Type.Integer({ description: 'Failed launches since the sample before' }),
  memory_left: OrNull(Type.Integer(), { description: 'Bytes' }),
  disk_left: OrNull(Type.Integer(), { description: 'Bytes' }),
  ready_seconds: OrNull(Percentiles, { description: 'Time from the request to the running container' }),
})
export type HistorySample = Type.Static<typeof HistorySample>

/** The last day, the oldest first: a sample a minute for the last two hours, and one in ten minutes before; the last is of this moment. Since the process began at most. */
export const HistoryResponse = Type.Object({ samples: Type.Array(HistorySample) })
export type HistoryResponse = Type.Static<typeof HistoryResponse>

/** What an operator looks at when something seems wrong. Null is "not known". */
const NodeStatus = Type.Object({
  address: Type.String({ description: '`NODE_ADDRESS`' }),
  version: Type.String({ description: 'Version of Berth' }),
  started_at: Instant,
  seen_at: Type.String({ format: 'date-time', description: 'Its last heartbeat, by the clock of the database' }),
  is_alive: Type.Boolean(),
  is_current: Type.Boolean({ description: 'Whether its gateway serves containers by the present state' }),
  leads_since: OrNull(Instant, { description: 'Null for a node that follows' }),
})

export const SystemReport = Type.Object({
  version: Type.String({ description: 'Version of Berth' }),
  reconciler: Type.Object({
    last_success: OrNull(Instant, { description: 'End of the last run without a failure' }),
    last_run: OrNull(Instant),
    duration_ms: OrNull(Type.Integer()),
    is_engine_answering: Type.Boolean(),
    actions: Type.Record(Type.String(), Type.Integer(), {
      description: 'Number of actions of each kind since the process started',
    }),
    failures: Type.Array(Type.String(), { description: 'What the last run could not do, and why' }),
  }),
  launches: Type.Object({ waiting: Type.Integer(), under_way: Type.Integer(), parallel: Type.Integer() }),
  containers: Type.Object({
    running: Type.Integer({ description: 'Running or paused' }),
    max: OrNull(Type.Integer(), { description: '`MAX_RUNNING`' }),
    addresses_left: OrNull(Type.Integer(), { description: 'Free addresses of the networks' }),
  }),
  gpus: OrNull(
    Type.Object({
      total: Type.Integer({ description: 'Ids in `GPU_IDS`' }),
      in_use: Type.Integer({ description: 'Of containers that run, are paused or are being launched' }),
      waiting: Type.Integer({ description: 'Launches that wait for some' }),
      containers: Type.Array(
        Type.Object({
          user_id: Type.Integer(),
          email: OrNull(Type.String(), { description: 'Null until it was launched once' }),
          container_type: Type.String(),
          ids: Type.Array(Type.String(), { description: 'As in `GPU_IDS`' }),
        }),
        { description: 'Containers with GPUs' },
      ),
    }),
    { description: 'Null without `GPU_IDS`' },
  ),
  host: Type.Object({
    memory: OrNull(Bytes),
    disk: OrNull(Bytes),
    rules: Type.String({ description: '`set`, `not known`, or `not set:` and the reason' }),
    rules_are: OrNull(OneOf(['host rules', 'policies']), {
      description:
        'What keeps containers apart: firewall rules of the host, or NetworkPolicies of a cluster; null before it is known',
    }),
  }),
  images: OrNull(
    Type.Object({
      environments: Type.Object(
        { count: Type.Integer(), bytes: Type.Integer() },
        { description: 'Versions of environments that are ready; layers that they share count for each' },
      ),
      pulled: Type.Array(
        Type.Object({
          image: Type.String(),
          bytes: Type.Integer(),
          is_needed: Type.Boolean({ description: 'Whether a template names it' }),
          goes_at: OrNull(Instant, { description: 'When it is removed, unless a container has it' }),
        }),
        { description: 'Images that Berth pulled since `KEEP_IMAGES` is set, the largest first' },
      ),
    }),
    { description: 'Images on the engine, as of the last look; null without `ENVIRONMENTS` and `KEEP_IMAGES`' },
  ),
  /** Since the process began. */
  mail: Type.Object({
    is_outbox: Type.Optional(
      Type.Literal(true, { description: 'There is no mail server: mails are files in the outbox of the data folder' }),
    ),
    accepted: Type.Integer(),
    failed: Type.Integer(),
    used: Type.Integer({ description: 'Requested links that were mailed and used' }),
    seconds_to_use: OrNull(Percentiles, { description: 'From acceptance of the mail to the use of its link' }),
    seconds_to_accept: OrNull(Percentiles),
    last_failure_at: OrNull(Instant),
    failures: Type.Array(MailFailure, { description: 'Latest 50 mails that were not accepted, newest first' }),
  }),
  warnings: Type.Array(Type.String(), { description: 'Messages for the operator, in the language of the request' }),
  nodes: Type.Array(NodeStatus, { description: 'Of an installation with `NODE_ADDRESS`; empty for a single node' }),
})
export type SystemReport = Type.Static<typeof SystemReport>

/** Of a container of an older version; absent where its owner may launch the type. */
export const MayNotLaunch = Type.Literal(true, {
  description: 'Groups keep its owner from launching the type: it stays as it is until it is stopped',
})

export const TemplatesResponse = Type.Object({
  templates: Type.Array(
    Type.Object({
      type: Type.String(),
      version: Type.String({ description: 'Changes when containers that are made from the template differ' }),
      image: Type.Object({
        reference: Type.String(),
        id: OrNull(Type.String(), { description: 'Of what the engine has by this name' }),
        digest: OrNull(Type.String(), {
          description: 'By which its registry knows it; null for one that was built here',
        }),
        pulled_at: OrNull(Instant, { description: 'When it was pulled, or built on this machine' }),
      }),
      environment_missing: Type.Optional(
        Type.String({
          description:
            'Name of the environment in place of an image, where there is none of this name, or no version of it is published: nothing can be launched',
        }),
      ),
      older: Type.Array(
        Type.Object({
          user_id: Type.Integer(),
          email: Type.String(),
          container_id: Type.String(),
          may_not_launch: Type.Optional(MayNotLaunch),
        }),
        { description: 'Containers that run or are paused, and were made from another version or an older image' },
      ),
      asked: Type.Integer({ description: 'How many of their owners were asked to restart them' }),
    }),
  ),
})
export const UpdateContainersBody = Type.Object({
  mode: Type.Union([Type.Literal('when_stopped'), Type.Literal('ask'), Type.Literal('now')], {
    description:
      'Containers of an older version that run: left until they are stopped, their owners asked to restart them, or replaced now; homes stay. Those with `may_not_launch` stay as they are',
  }),
})
export type UpdateContainersBody = Type.Static<typeof UpdateContainersBody>

export type TemplatesResponse = Type.Static<typeof TemplatesResponse>
