import { Type, type Static } from 'typebox'

/**
 * Bodies that Berth sends to the engine. A key that is not here is refused, whatever the engine would take it for, and
 * a value that could weaken a container is a constant.
 */

/** No key but these. The engine reads keys in any case, so `hostconfig` has to be refused, too. */
const strict = { additionalProperties: false } as const

const Name = Type.String({ pattern: '^[a-zA-Z0-9][\\w.-]{0,254}$' })
/**
 * Labels of Berth alone: other programs on the host act on theirs, such as a proxy on those of routes. Helpers have
 * labels of their own, so that nothing is both a helper and a container of a user.
 */
const Labels = Type.Record(Type.String({ pattern: '^berth\\.(?!helper)[a-z_]+$' }), Type.String(), strict)
const taskLabels = (task: 'chown' | 'du') =>
  Type.Object(
    { 'berth.helper': Type.String(), 'berth.helper.pid': Type.String(), 'berth.helper.task': Type.Literal(task) },
    strict,
  )
const HelperLabels = Type.Record(Type.String({ pattern: '^berth\\.helper(\\.pid)?$' }), Type.String(), strict)
const Positive = Type.Integer({ minimum: 1 })
/** Options of a volume or a writable layer: its size alone. Others of a volume mount any folder of the host. */
const SizeOption = Type.Object({ size: Type.String({ pattern: '^\\d+$' }) }, strict)

export const VolumeMount = Type.Object(
  {
    Type: Type.Literal('volume'),
    Source: Name,
    Target: Type.String(),
    ReadOnly: Type.Optional(Type.Boolean()),
    VolumeOptions: Type.Optional(
      Type.Object(
        {
          Labels: Type.Optional(Labels),
          NoCopy: Type.Optional(Type.Boolean()),
          DriverConfig: Type.Optional(Type.Object({ Name: Type.Literal('local'), Options: SizeOption }, strict)),
        },
        strict,
      ),
    ),
  },
  strict,
)
export type VolumeMount = Static<typeof VolumeMount>

const BindMount = Type.Object(
  {
    Type: Type.Literal('bind'),
    Source: Type.String({ pattern: '^/' }),
    Target: Type.String(),
    ReadOnly: Type.Boolean(),
    BindOptions: Type.Object({ Propagation: Type.Literal('rprivate') }, strict),
  },
  strict,
)

/** Folders in memory, with the options that Berth gives them. */
const Scratch = Type.String({ pattern: '^rw,nosuid,nodev,size=\\d+$' })

const LocalLog = Type.Object(
  {
    Type: Type.Literal('local'),
    Config: Type.Object({ 'max-size': Type.String(), 'max-file': Type.String() }, strict),
  },
  strict,
)

const GpuCapability = Type.Array(Type.Array(Type.Literal('gpu'), { maxItems: 1 }), { maxItems: 1 })

const HostConfig = Type.Object(
  {
    Memory: Positive,
    MemorySwap: Positive,
    OomScoreAdj: Type.Integer({ minimum: 500, maximum: 1000 }),
    NanoCpus: Positive,
    // 1024 is what other programs on the host have.
    CpuShares: Type.Integer({ minimum: 2, maximum: 1024 }),
    PidsLimit: Positive,
    Ulimits: Type.Array(
      Type.Object(
        {
          Name: Type.Union([Type.Literal('core'), Type.Literal('nofile')]),
          Soft: Type.Integer(),
          Hard: Type.Integer(),
        },
        strict,
      ),
    ),
    ShmSize: Positive,
    StorageOpt: Type.Optional(SizeOption),
    LogConfig: Type.Optional(LocalLog),
    Privileged: Type.Literal(false),
    CapDrop: Type.Array(Type.Literal('ALL'), { minItems: 1, maxItems: 1 }),
    CapAdd: Type.Array(Type.String()),
    SecurityOpt: Type.Array(Type.Literal('no-new-privileges:true'), { maxItems: 1 }),
    IpcMode: Type.Literal('private'),
    CgroupnsMode: Type.Literal('private'),
    ReadonlyRootfs: Type.Boolean(),
    Tmpfs: Type.Optional(Type.Object({ '/tmp': Scratch, '/run': Scratch, '/var/tmp': Scratch }, strict)),
    Runtime: Type.Optional(Name),
    DeviceRequests: Type.Optional(
      Type.Array(
        Type.Union([
          Type.Object({ Count: Positive, Capabilities: GpuCapability }, strict),
          Type.Object({ DeviceIDs: Type.Array(Type.String(), { minItems: 1 }), Capabilities: GpuCapability }, strict),
        ]),
        { maxItems: 1 },
      ),
    ),
    Devices: Type.Array(
      Type.Object(
        { PathOnHost: Type.String(), PathInContainer: Type.String(), CgroupPermissions: Type.String() },
        strict,
      ),
    ),
    NetworkMode: Name,
    RestartPolicy: Type.Object({ Name: Type.Literal('no') }, strict),
    Init: Type.Literal(true),
    AutoRemove: Type.Literal(false),
    Mounts: Type.Array(Type.Union([VolumeMount, BindMount])),
  },
  strict,
)

/** A container of a user. */
export const CreateContainer = Type.Object(
  {
    Image: Type.String({ minLength: 1 }),
    Env: Type.Array(Type.String()),
    Cmd: Type.Optional(Type.Array(Type.String())),
    User: Type.Optional(Type.String({ pattern: '^\\d{1,10}(:\\d{1,10})?$' })),
    Labels,
    StopTimeout: Type.Integer({ minimum: 0 }),
    HostConfig,
    NetworkingConfig: Type.Object({ EndpointsConfig: Type.Record(Type.String(), Type.Object({}, strict)) }, strict),
  },
  strict,
)
export type CreateContainer = Static<typeof CreateContainer>

/** A container that reaches a home for a backup: of an image without files, so that nothing can run. */
export const CreateHelper = Type.Object(
  {
    Image: Type.Literal('berth-helper:empty'),
    Cmd: Type.Array(Type.String()),
    Labels: HelperLabels,
    HostConfig: Type.Object(
      {
        NetworkMode: Type.Literal('none'),
        CapDrop: Type.Array(Type.Literal('ALL'), { minItems: 1, maxItems: 1 }),
        Mounts: Type.Array(VolumeMount, { minItems: 1, maxItems: 1 }),
      },
      strict,
    ),
  },
  strict,
)
export type CreateHelper = Static<typeof CreateHelper>

const accountOrNone = '(-|\\d{1,10}(:(-|\\d{1,10}))?)'

/**
 * A container that changes the owner of a home: it has the home and the container tool, no network, and fewer rights than a
 * container of a user may have.
 */
export const CreateOwnerHelper = Type.Object(
  {
    Image: Type.Literal('berth-helper:empty'),
    Cmd: Type.Tuple([
      Type.Literal('/.berth/berth-tool'),
      Type.Literal('chown'),
      Type.String({ pattern: `^${accountOrNone}$` }),
      Type.String({ pattern: '^\\d{1,10}(:\\d{1,10})?$' }),
      Type.Literal('/home'),
      Type.String({ pattern: '^(-|\\d+:\\d+)$' }),
    ]),
    User: Type.Literal('0:0'),
    Labels: taskLabels('chown'),
    HostConfig: Type.Object(
      {
        NetworkMode: Type.Literal('none'),
        CapDrop: Type.Array(Type.Literal('ALL'), { minItems: 1, maxItems: 1 }),
        CapAdd: Type.Tuple([Type.Literal('CHOWN'), Type.Literal('DAC_OVERRIDE')]),
        SecurityOpt: Type.Tuple([Type.Literal('no-new-privileges:true')]),
        ReadonlyRootfs: Type.Literal(true),
        Memory: Type.Integer({ minimum: 1, maximum: 512 * 1024 ** 2 }),
        MemorySwap: Positive,
        PidsLimit: Type.Integer({ minimum: 1, maximum: 64 }),
        LogConfig: LocalLog,
        Mounts: Type.Tuple([Type.Union([VolumeMount, BindMount]), VolumeMount]),
      },
      strict,
    ),
  },
  strict,
)
export type CreateOwnerHelper = Static<typeof CreateOwnerHelper>

/** A container that measures homes: it has them read-only, and the container tool. */
export const CreateSizeHelper = Type.Object(
  {
    Image: Type.Literal('berth-helper:empty'),
    Cmd: Type.Tuple([
      Type.Literal('/.berth/berth-tool'),
      Type.Literal('du'),
      Type.String({ pattern: '^\\d{1,3}$' }),
      Type.Literal('/homes'),
    ]),
    User: Type.Literal('0:0'),
    Labels: taskLabels('du'),
    HostConfig: Type.Object(
      {
        NetworkMode: Type.Literal('none'),
        CapDrop: Type.Array(Type.Literal('ALL'), { minItems: 1, maxItems: 1 }),
        CapAdd: Type.Tuple([Type.Literal('DAC_READ_SEARCH')]),
        SecurityOpt: Type.Tuple([Type.Literal('no-new-privileges:true')]),
        ReadonlyRootfs: Type.Literal(true),
        Memory: Type.Integer({ minimum: 1, maximum: 512 * 1024 ** 2 }),
        MemorySwap: Positive,
        PidsLimit: Type.Integer({ minimum: 1, maximum: 64 }),
        CpuShares: Type.Integer({ minimum: 2, maximum: 1024 }),
        LogConfig: LocalLog,
        Mounts: Type.Array(VolumeMount, { minItems: 2, maxItems: 200 }),
      },
      strict,
    ),
  },
  strict,
)
export type CreateSizeHelper = Static<typeof CreateSizeHelper>

export const CreateVolume = Type.Object(
  { Name, Driver: Type.Optional(Type.Literal('local')), DriverOpts: Type.Optional(SizeOption), Labels },
  strict,
)
export type CreateVolume = Static<typeof CreateVolume>

/** Neighbours on it cannot reach each other. */
export const CreateNetwork = Type.Object(
  {
    Name,
    CheckDuplicate: Type.Literal(true),
    Driver: Type.Literal('bridge'),
    Options: Type.Object(
      {
        'com.docker.network.bridge.enable_icc': Type.Literal('false'),
        'com.docker.network.bridge.name': Type.String({ pattern: '^brth-[0-9a-f]{8}$' }),
      },
      strict,
    ),
    Labels,
  },
  strict,
)
export type CreateNetwork = Static<typeof CreateNetwork>

/**
 * A program beside that of a container: as its user and with its rights, for neither can be named, and without a
 * terminal of the engine.
 */
export const CreateExec = Type.Object(
  {
    AttachStdin: Type.Literal(true),
    AttachStdout: Type.Literal(true),
    AttachStderr: Type.Literal(true),
    Tty: Type.Literal(false),
    Cmd: Type.Array(Type.String(), { minItems: 1 }),
  },
  strict,
)
