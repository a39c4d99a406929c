import Type from 'typebox'
import { LaunchParameter, OpenPath } from './container.ts'
import { typeIcons } from '../type-icons.ts'
import { Instant, MapOf, OneOf, OrNull, instant } from './shapes.ts'

/** Where an account stands. Source: specification, User state. */
export const UserState = Type.Union([Type.Literal('registered'), Type.Literal('verified'), Type.Literal('active')])
export type UserState = Type.Static<typeof UserState>

/** The signed-in person and their primary container. Source: specification, `GET /api/user/me`. */
export const MeResponse = Type.Object({
  user: Type.Object({
    id: Type.Integer(),
    email: Type.String(),
    slug: Type.String(),
    is_admin: Type.Boolean(),
    state: UserState,
    last_used: OrNull(Instant),
    created_at: OrNull(Instant),
  }),
  container: Type.Object({
    id: OrNull(Type.String()),
    port: OrNull(Type.Integer()),
    status: Type.String(),
    service_url: Type.String(),
  }),
})
export type MeResponse = Type.Static<typeof MeResponse>

/** What may count as the last use of a container. */
export const useReasons = ['traffic', 'page', 'app', 'cpu', 'kept', 'started'] as const
export type UseReason = (typeof useReasons)[number]

/** One configured type as its owner sees it, record or not. Source: specification, `GET /api/user/containers`. */
export const ContainerEntry = Type.Object({
  type: Type.String(),
  display_name: Type.String(),
  description: Type.String(),
  icon: Type.Optional(
    Type.String({
      description: `Name of a sign of the pages (${typeIcons.join(', ')}), or the path of an image of the operator's; absent where the template names none`,
    }),
  ),
  status: Type.String({
    description: 'not_created, not_found, error, or what the engine reports (running, exited, ...)',
  }),
  service_url: Type.String(),
  open_path: Type.Optional(OpenPath),
  parameters: Type.Optional(
    MapOf(LaunchParameter, {
      description: 'What may be chosen at a launch and what was, by name; absent where there is nothing to choose',
    }),
  ),
  restart_requested: Type.Optional(
    Type.Literal(true, {
      description: 'An administrator asks the owner to restart it: its template or image is a newer one by now',
    }),
  ),
  home_problem: Type.Optional(Type.String({ description: 'Why its program cannot write to its home, and what to do' })),
  layer_problem: Type.Optional(
    Type.String({ description: 'That it was stopped for what it had written outside of its home, and what to do' }),
  ),
  launch_refused: Type.Optional(
    Type.String({ description: 'Why it is not launched now: a group of the user, for its type, has ended' }),
  ),
  is_outdated: Type.Optional(
    Type.Literal(true, {
      description: "It has other folders of the owner's groups than it would have after a restart",
    }),
  ),
  ports_off: Type.Optional(
    Type.Literal(true, { description: 'Its template has `ports: none`: no further port of it has an address' }),
  ),
  home: OrNull(Type.Union([Type.Literal('type'), Type.Literal('user')]), {
    description: 'Whose home it is: of this type alone, or of all types of the person that share one; null: none',
  }),
  container_id: OrNull(Type.String()),
  created_at: OrNull(Instant),
  last_used: OrNull(Instant),
  memory: Type.Optional(
    Type.Object(
      { used: Type.Integer(), limit: Type.Integer() },
      { description: 'Bytes, by the last measurement; absent for a container that does not run, or is not measured' },
    ),
  ),
  disk: Type.Optional(
    Type.Object(
      { used: Type.Integer(), limit: OrNull(Type.Integer()) },
      {
        description:
          'Bytes of the home by the last measurement, and the limit of it alone; absent while it is not measured',
      },
    ),
  ),
  idle: Type.Optional(
    Type.Object(
      {
        at: instant('When it is suspended if it is not used until then'),
        why: OneOf(useReasons, {
          description:
            'What counts as its last use: `traffic`, a `page` that was opened (for five minutes) or what the `app` says, where it is asked, CPU time (`cpu`), that its owner `kept` it, or that it was `started`',
        }),
      },
      { description: 'Absent for a container that does not run, or whose template has no idle time' },
    ),
  ),
  is_blocked: Type.Boolean(),
  blocked_at: OrNull(Instant),
})
export type ContainerEntry = Type.Static<typeof ContainerEntry>

export const ContainersResponse = Type.Object({ containers: Type.Array(ContainerEntry) })
export type ContainersResponse = Type.Static<typeof ContainersResponse>
