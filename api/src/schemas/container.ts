import Type from 'typebox'
import { unblockedStatuses } from '../unblocked-statuses.ts'
import { Instant, instant, MapOf, OneOf, OrNull } from './shapes.ts'

/** Any text: an unknown type is answered by the use case with 400, whatever it looks like. */
export const TypeParams = Type.Object({ container_type: Type.String() })

export const StatusResponse = Type.Object({
  container_id: OrNull(Type.String()),
  status: Type.String({ description: 'no_container, not_found, what the engine reports, or "error: " and a detail' }),
})
export type StatusResponse = Type.Static<typeof StatusResponse>

export const RestartResponse = Type.Object({
  message: Type.String(),
  container_id: Type.String(),
  status: Type.Literal('running'),
})
export type RestartResponse = Type.Static<typeof RestartResponse>

export const OpenPath = Type.String({
  description: 'Path and query below `service_url` and a slash to which Open leads; absent where it is the root',
})

const ParameterValue = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

/** A parameter of a template: what may be chosen, and what the container has. */
export const LaunchParameter = Type.Object({
  label: Type.String(),
  type: OneOf(['choice', 'number', 'boolean', 'text']),
  choices: Type.Optional(Type.Array(Type.String(), { description: 'Of the type `choice` alone' })),
  min: Type.Optional(Type.Number({ description: 'Least number, or characters of a text' })),
  max: Type.Optional(Type.Number({ description: 'Greatest number, or characters of a text' })),
  default: ParameterValue,
  value: Type.Union([Type.String(), Type.Number(), Type.Boolean()], {
    description: 'What was chosen, or the default; the next start has it',
  }),
})
export type LaunchParameter = Type.Static<typeof LaunchParameter>

export const LaunchBody = Type.Object({
  parameters: Type.Optional(
    MapOf(ParameterValue, {
      description:
        'Values by name, see `parameters` of `GET /api/user/containers`. Those that are not named stay as they are. Other values than before create the container anew; its home stays',
    }),
  ),
})
export type LaunchBody = Type.Static<typeof LaunchBody>

export const LinkFilesBody = Type.Object({
  git: Type.String({ maxLength: 500, description: 'Address of a Git repository at a host that the operator allows' }),
  ref: Type.Optional(Type.String({ maxLength: 255, description: 'Branch, tag or commit; its own branch without it' })),
  to: Type.Optional(Type.String({ maxLength: 500, description: 'Folder of the home; the home itself without it' })),
})
export type LinkFilesBody = Type.Static<typeof LinkFilesBody>

export const LaunchResponse = Type.Object({
  message: Type.String(),
  service_url: Type.String(),
  open_path: Type.Optional(OpenPath),
  container_id: Type.String(),
  status: Type.Literal('running'),
})
export type LaunchResponse = Type.Static<typeof LaunchResponse>

export const KeepResponse = Type.Object({
  message: Type.String(),
  until: OrNull(Instant, {
    description: 'Earliest time at which it is paused or stopped; null if it never is, or does not run',
  }),
})
export type KeepResponse = Type.Static<typeof KeepResponse>

const containerType = Type.String({ description: 'Container type' })

export const IdleEvent = Type.Object(
  {
    type: containerType,
    action: Type.Union([Type.Literal('pause'), Type.Literal('stop')], { description: 'What happens to it' }),
    at: OrNull(Instant, {
      description: 'When it happens; null if it does not happen any more, because the container was used or kept',
    }),
    reason: Type.Optional(
      Type.Literal('lifetime', {
        description: 'Its template limits how long it runs, so it cannot be kept; absent where it is idle',
      }),
    ),
  },
  {
    description:
      'A container that is idle, or whose time is over, is about to be paused or stopped. Sent a minute before, or a quarter of its idle time if that is shorter',
  },
)
export type IdleEvent = Type.Static<typeof IdleEvent>

/** Why Berth stopped a container. */
export const stopReasons = [
  'idle',
  'owner',
  'manager',
  'administrator',
  'hours',
  'lifetime',
  'layer',
  'group-end',
  'block',
  'version',
] as const
export type StopReason = (typeof stopReasons)[number]

export const ContainerEvent = Type.Object(
  {
    type: containerType,
    status: OneOf([...unblockedStatuses, 'blocked'], {
      description:
        'Status from now on; `asleep`: stopped, the next request starts it; `evicted`: ended by its cluster, the next request starts it; `node-lost`: the node that it ran on does not answer; `unknown`: the engine does not respond',
    }),
    message: Type.Optional(
      Type.String({
        description:
          'Why it does not run, if that is known of `crashed`, `out-of-memory`, `no-image`, `evicted`, `node-lost` and `failed`',
      }),
    ),
    since: Type.Optional(
      instant('Of `running`: when its program was started; of `asleep`: when Berth stopped it, where it did'),
    ),
    why: Type.Optional(
      OneOf(stopReasons, {
        description:
          'Why Berth stopped what is `asleep`: it was not used (`idle`), by its `owner`, a `manager` of a group or an `administrator`, at the `hours` of a group, at the end of its `lifetime`, for its `layer` (`layer_size`), because a group has ended (`group-end`), for a `block`, or while it was paused, for a newer `version`',
      }),
    ),
  },
  { description: 'The status of a container changed' },
)
export type ContainerEvent = Type.Static<typeof ContainerEvent>

/** Why a launch failed, in one word. */
export const LaunchFailure = Type.Union(
  [
    Type.Literal('crashed'),
    Type.Literal('out-of-memory'),
    Type.Literal('no-image'),
    Type.Literal('full'),
    Type.Literal('engine'),
    Type.Literal('node-lost'),
    Type.Literal('stopped'),
    Type.Literal('failed'),
  ],
  {
    description:
      '`crashed`: the program ended; `out-of-memory`: the kernel killed it; `no-image`: the image cannot be fetched; `full`: a limit or the host has no room; `engine`: the engine does not respond; `node-lost`: the node that it ran on does not answer; `stopped`: the owner stopped it; `failed`: any other reason',
  },
)
export type LaunchFailure = Type.Static<typeof LaunchFailure>

const ofType = { type: containerType }
const ofStart = {
  ...ofType,
  usual_seconds: Type.Optional(
    Type.Integer({
      description:
        'How long a start of this type usually takes here, from its turn until its port accepts connections: the median of the latest. Left out where fewer than three were seen since Berth started',
    }),
  ),
}

export const LaunchEvent = Type.Union(
  [
    Type.Object(
      {
        ...ofStart,
        stage: Type.Literal('queued'),
        place: Type.Integer(),
        waiting: Type.Integer(),
        waits_for: Type.Optional(Type.Literal('gpu')),
      },
      {
        description:
          'In the launch queue, at position `place` of `waiting`. With `waits_for`: all GPUs are in use, and it is counted among the launches that wait for some',
      },
    ),
    Type.Object(
      {
        ...ofStart,
        stage: Type.Literal('pulling'),
        layers_done: Type.Integer(),
        layers_total: Type.Integer(),
        bytes_done: Type.Integer(),
        bytes_total: Type.Integer(),
      },
      { description: 'The engine pulls the image; totals grow while the registry reports more layers' },
    ),
    Type.Object({ ...ofStart, stage: Type.Literal('creating') }, { description: 'The engine creates the container' }),
    Type.Object(
      {
        ...ofStart,
        stage: Type.Literal('starting'),
        waits_for: Type.Optional(Type.Union([Type.Literal('node'), Type.Literal('volume')])),
      },
      {
        description:
          'The engine starts the container; a cluster may wait for a node with room, or for the volume of the home',
      },
    ),
    Type.Object(
      { ...ofStart, stage: Type.Literal('waiting') },
      { description: 'The program runs; its port does not accept connections yet' },
    ),
    Type.Object({ ...ofType, stage: Type.Literal('ready') }, { description: 'The port accepts connections' }),
    Type.Object(
      {
        ...ofType,
        stage: Type.Literal('failed'),
        reason: LaunchFailure,
        message: Type.String({ description: 'In the language of the page that listens' }),
        exit_code: OrNull(Type.Integer()),
        last_lines: Type.Array(Type.String(), { description: 'Last lines of the output of the program' }),
      },
      {
        description:
          'The launch failed; the body of the answer 500 has the same fields. Also after `waiting`, if the program ends, is stopped or blocked before its port accepts connections. Repeated to new listeners for ten minutes',
      },
    ),
  ],
  {
    description:
      'Progress of a launch, also of one requested elsewhere. Stages come in this order; those that are not needed are omitted, and each may be repeated. The launch request itself is answered when the program runs, before `waiting` and `ready`',
  },
)
export type LaunchEvent = Type.Static<typeof LaunchEvent>

export const DiskEvent = Type.Object(
  {
    type: OrNull(Type.String(), { description: 'Container type of the home; null: all homes together' }),
    used: Type.Integer({ description: 'Bytes' }),
    limit: Type.Integer({ description: 'Bytes' }),
    measured: Type.Boolean({
      description:
        'False: the engine cannot measure this home; `used` is what was known last, and other launches of its owner are refused',
    }),
  },
  {
    description:
      'Nine tenths of a disk limit are used, or a home under one cannot be measured; sent with each measurement, and once when it is less again. From the limit on launches are refused, except that of the type in which most can be deleted, until 1.25 times the limit',
  },
)
export type DiskEvent = Type.Static<typeof DiskEvent>

export const LayerEvent = Type.Object(
  {
    type: containerType,
    used: Type.Integer({ description: 'Bytes' }),
    limit: Type.Integer({ description: 'Bytes' }),
  },
  {
    description:
      'Nine tenths of what a container may write outside of its home (`layer_size` of its template) are used; sent with each measurement, and once when it is less again. At the limit it is stopped, and its next launch makes it anew',
  },
)
export type LayerEvent = Type.Static<typeof LayerEvent>

export const VisitorsEvent = Type.Object(
  {
    type: containerType,
    visitors: Type.Array(Type.Object({ email: Type.String(), since: Instant }), {
      description: 'All who are there now, who came first first; at most 100',
    }),
  },
  { description: 'A visitor to whom a container is shared has opened it, or left' },
)
export type VisitorsEvent = Type.Static<typeof VisitorsEvent>

export const LooksEvent = Type.Object(
  {
    requests: Type.Array(
      Type.Object({
        id: Type.Integer(),
        by: Type.String({ description: 'E-mail address of the manager who asks' }),
        group: Type.String({ description: 'Name of the group' }),
        type: containerType,
        expires_at: Instant,
      }),
      { description: 'Wait for an answer of the user' },
    ),
    looks: Type.Array(
      Type.Object({
        share_id: Type.Integer({ description: 'Of the share, which `DELETE /api/container/shares/...` ends' }),
        by: Type.String({ description: 'E-mail address of the manager who may look' }),
        group: Type.String({ description: 'Name of the group' }),
        type: containerType,
        expires_at: Instant,
      }),
      { description: 'The user has agreed to' },
    ),
  },
  {
    description:
      'All requests of managers to look at a container of the user, and all such looks that are allowed now. It replaces the event before',
  },
)
export type LooksEvent = Type.Static<typeof LooksEvent>

export const TakeoverEvent = Type.Object(
  {
    by: Type.String({ description: 'E-mail address of the administrator' }),
    reason: Type.String({ description: 'In the words of the administrator' }),
    until: instant('Latest end of the takeover'),
  },
  {
    description:
      'An administrator starts to act for the user; sent once, and listed in `GET /api/user/sessions` for `KEEP_TAKEOVERS` (30 days unless set)',
  },
)
export type TakeoverEvent = Type.Static<typeof TakeoverEvent>

export const SnapshotEvent = Type.Object(
  {},
  {
    description:
      'Discard what was received before: the current state follows, as a `container` for each container, a `launch` for each launch in progress, a `disk` for each limit that is nearly used up, a `layer` for each container that has nearly written as much as it may, an `idle` for each container that is about to be paused or stopped, a `visitors` for each container with visitors, and a `looks` where a manager asks to look or may, up to the next event with an id. Sent to a client that is new, or was away for too long',
  },
)

/** Events of `GET /api/container/events`, by name. */
export const containerEvents = {
  snapshot: SnapshotEvent,
  container: ContainerEvent,
  launch: LaunchEvent,
  idle: IdleEvent,
  disk: DiskEvent,
  layer: LayerEvent,
  visitors: VisitorsEvent,
  looks: LooksEvent,
  takeover: TakeoverEvent,
} as const

export const LogsQuery = Type.Object({
  lines: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Past lines, 0 to 1000; default 100' })),
})

/** Events of `GET /api/container/logs/{container_type}`. */
export const logEvents = {
  line: Type.Object(
    { text: Type.String({ description: 'At most 500 characters, without control characters' }) },
    { description: 'A line that the container wrote' },
  ),
  end: Type.Object({}, { description: 'The program has ended: no line follows' }),
} as const

/** What listens in a container. */
export const PortsResponse = Type.Object({
  ports: Type.Array(
    Type.Object({
      port: Type.Integer(),
      is_main: Type.Boolean({ description: 'Whether it is the one at which the container opens' }),
      is_loopback: Type.Boolean({ description: 'Whether the program listens on the loopback of the container alone' }),
      url: Type.String({ description: 'Address that leads to it, for the owner' }),
    }),
    { description: 'The main port, and those of 1024 to 65535 that the template allows; sorted' },
  ),
})
export type PortsResponse = Type.Static<typeof PortsResponse>
