import Type from 'typebox'
import { MayNotLaunch } from './administration/admin.ts'
import { Instant, OneOf, OrNull } from './shapes.ts'

/** Names of environments, which are parts of names of images. */
export const environmentName = '^[a-z0-9]+(-[a-z0-9]+)*$'

const Name = Type.String({ minLength: 1, maxLength: 40, pattern: environmentName, description: 'Unique' })
const Description = Type.String({ maxLength: 1000 })

const GroupId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

/** No character that a shell knows, and none that begins an option. */
const packages = (what: string, pattern: string) =>
  Type.Optional(Type.Array(Type.String({ maxLength: 200, pattern }), { maxItems: 200, description: what }))

const Base = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[A-Za-z0-9][A-Za-z0-9_./:@-]*$',
  description: 'Image that packages are added to',
})

const Packages = Type.Object(
  {
    base: Base,
    apt: packages('Packages of Debian or Ubuntu, `name` or `name=version`', '^[a-z0-9][a-z0-9+.:=~-]*$'),
    pip: packages('Packages of Python, as pip takes them', '^[A-Za-z0-9][A-Za-z0-9_.,<>=!~@\\[\\] +:/-]*$'),
    npm: packages('Packages of npm, installed for all users', '^@?[A-Za-z0-9][A-Za-z0-9_./@^~<>=-]*$'),
    run: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4000 }), {
        maxItems: 50,
        description: 'Commands of a shell, run as root one after the other',
      }),
    ),
  },
  { additionalProperties: false },
)
const FromDockerfile = Type.Object(
  {
    dockerfile: Type.String({ minLength: 1, maxLength: 65_536, description: 'Text of a Dockerfile without a context' }),
  },
  { additionalProperties: false },
)
const FromGit = Type.Object(
  {
    git: Type.String({
      maxLength: 2000,
      pattern: '^https?://[A-Za-z0-9_.:\\[\\]-]+(/[^\\s\\\\\\u0000-\\u001f]*)?$',
      description: 'URL of a repository, without a user or a password, which everybody who sees it would read',
    }),
    ref: Type.Optional(
      OrNull(Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9][A-Za-z0-9_./-]*$' }), {
        description: 'Branch, tag or commit; null: the branch that the repository names as its own',
      }),
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: '^[^\\u0000-\\u001f\\\\]*$',
        description: 'Folder in it, or a Dockerfile',
      }),
    ),
    base: Type.Optional(Base),
  },
  { additionalProperties: false },
)

export const EnvironmentSource = Type.Union([FromDockerfile, FromGit, Packages], {
  description: 'What an image is built from',
})
export type EnvironmentSource = Type.Static<typeof EnvironmentSource>

export const VersionState = OneOf(['waiting', 'building', 'ready', 'failed'])

export const EnvironmentVersion = Type.Object({
  version: Type.Integer(),
  state: VersionState,
  image_id: OrNull(Type.String(), { description: 'Id of the image in the engine, once it is ready' }),
  size: OrNull(Type.Integer(), { description: 'Bytes, those of the base included' }),
  created_at: Instant,
  error: OrNull(Type.String(), { description: 'Why it failed' }),
  changes: OrNull(Type.Array(Type.String()), {
    description:
      'Lines of the source that went (`- `) and came (`+ `) since the newest version before it that is ready; null: none is kept',
  }),
})
export type EnvironmentVersion = Type.Static<typeof EnvironmentVersion>

export const Environment = Type.Object({
  name: Type.String(),
  description: Type.String(),
  source: EnvironmentSource,
  group_id: OrNull(Type.Integer(), {
    description: 'Group whose managers may change and build it; null: administrators alone',
  }),
  group: OrNull(Type.String(), { description: 'Name of this group' }),
  published: OrNull(Type.Integer(), { description: 'Version that launches use' }),
  types: Type.Array(Type.String(), { description: 'Configured types whose template names it' }),
  versions: Type.Array(EnvironmentVersion, { description: 'Newest first' }),
  trial: OrNull(
    Type.Object({
      version: Type.Integer(),
      container_type: Type.String({ description: 'Its container is stopped, and its output read, by this type' }),
      url: Type.String(),
      ends_at: Instant,
    }),
    { description: 'What the person who asks tries of it' },
  ),
})
export type Environment = Type.Static<typeof Environment>

export const EnvironmentParams = Type.Object({ name: Type.String() })
export const VersionParams = Type.Object({ name: Type.String(), version: Type.String() })

export const EnvironmentBody = Type.Object({
  name: Name,
  description: Type.Optional(Description),
  source: EnvironmentSource,
  group_id: Type.Optional(OrNull(GroupId)),
})
/** What is left out stays as it is. */
export const EnvironmentChanges = Type.Object({
  description: Type.Optional(Description),
  source: Type.Optional(EnvironmentSource),
  group_id: Type.Optional(OrNull(GroupId)),
})
export const EnvironmentResponse = Type.Object({ environment: Environment })
export const EnvironmentsQuery = Type.Object({
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })),
})
export const EnvironmentsResponse = Type.Object({
  environments: Type.Array(Environment),
  next_cursor: OrNull(Type.String()),
})
export const TryResponse = Type.Object({
  container_type: Type.String(),
  service_url: Type.String(),
  open_path: Type.Optional(Type.String({ description: 'Behind `service_url`' })),
  container_id: Type.String(),
  ends_at: Instant,
})
export const OlderResponse = Type.Object({
  older: Type.Array(
    Type.Object({
      container_type: Type.String(),
      user_id: Type.Integer(),
      email: Type.String(),
      container_id: Type.String(),
      is_asked: Type.Boolean({ description: 'Whether its owner is asked to restart it' }),
      may_not_launch: Type.Optional(MayNotLaunch),
    }),
  ),
})

export const BuildResponse = Type.Object({ version: Type.Integer({ description: 'The version that is built' }) })

export const SourceCheckBody = Type.Object({
  source: EnvironmentSource,
  group_id: Type.Optional(OrNull(GroupId)),
})
export const SourceCheckResponse = Type.Object({
  images: Type.Array(Type.String(), { description: 'Images that it reads' }),
  recognised: Type.Array(Type.String(), { description: 'Files of a repository that say what is built' }),
  dockerfile: Type.String({ description: 'The Dockerfile that is built' }),
})
