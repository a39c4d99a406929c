/**
 * The port to whatever runs containers. An adapter is dumb: it translates verbs and says what it sees.
 * Policy (adopt, start, recreate, one at a time) lives in `containers/`.
 *
 * Three rules that every adapter keeps:
 * - It never changes a container that does not carry this installation's labels.
 * - "I could not ask" is an `unreachable` error, never an empty answer: forgetting is not the same as not knowing.
 * - Every call ends within a limit of its own; a caller may end it earlier through its signal, and gets its reason back.
 */
export interface Runtime {
  /**
   * Makes ready what containers need (networks, rules of the host, limits known). Safe to repeat. What it may do without,
   * such as rules that this process may not set, is no failure: `host` tells of it.
   * @throws {RuntimeError} `unreachable`; `failed` when what is there would not keep containers apart; `full` when not even one
   *   network can be made
   */
  prepare(): Promise<void>

  /** Resolves when the engine answers. @throws {RuntimeError} `unreachable` within 3 s */
  ping(): Promise<void>

  /**
   * The container of exactly this name, or undefined when there is none.
   * A stranger's container of that name is returned too, with `owner: null`, so that policy can refuse to touch it.
   */
  inspect(name: string): Promise<RuntimeContainer | undefined>

  /** As `inspect`, by the engine's full id. What the gateway asks, because names pass from one container to the next. */
  inspectId(id: string): Promise<RuntimeContainer | undefined>

  /**
   * The id of the image that this name means now, to be compared with an instance's; undefined when the engine has none of
   * this name. Nothing is pulled. @throws {RuntimeError} `unreachable` within 3 s
   */
  imageId(image: string): Promise<string | undefined>

  /**
   * Creates a container that does not run yet, and its home volume when the owner has none. Pulls the image when it is missing.
   * After a failure nothing new exists but perhaps the volume; after a time-out or an abort perhaps the container, which
   * the next attempt finds by its name.
   * @throws {RuntimeError} `conflict` when the name is taken, `image` when the image cannot be had, `full` when no network
   *   has room and no other can be made
   */
  create(spec: ContainerSpec, options?: CreateOptions): Promise<CreatedContainer>

  /**
   * Makes it run, from whatever state (created, exited, paused); nothing to do when it runs.
   * Resolving means that the engine started the program, not that the program stays.
   * @throws {RuntimeError} `missing`, `failed`; `full` when its network has no room, which one made anew may find on another
   */
  start(id: string, signal?: AbortSignal): Promise<void>

  /**
   * Freezes a running program: its memory and its connections stay, it gets no CPU until `start`.
   * Nothing to do when it is paused.
   * @throws {RuntimeError} `missing`; `failed` when it does not run
   */
  pause(id: string, signal?: AbortSignal): Promise<void>

  /**
   * Ends the program: politely, after a while by force; also a paused one. Nothing to do when it is stopped or gone.
   * @param grace seconds that it has to end by itself; 10 when not given
   */
  stop(id: string, signal?: AbortSignal, grace?: number): Promise<void>

  /** Takes the container away, running or not. Home volumes stay. Nothing to do when it is gone. */
  remove(id: string, signal?: AbortSignal): Promise<void>

  /** As `remove`, but never what runs or is paused by now. @throws {RuntimeError} `conflict` then */
  removeStopped(id: string): Promise<void>

  /**
   * All containers of this installation, of one user, or of those with the given ids what there is, in one engine call.
   * Strangers' are left out. Asked for ids the engine looks at these alone; else it reads all containers that it has, which
   * takes Docker 0.2 ms for each that it tells, and a tenth of that for each that it passes over.
   * Of ids `unreachable` follows within 3 s. Of all containers the answer may take 30 s, as long as the engine answers pings.
   * For a moment after a program ended its list may still say that it runs; `inspectId` does not.
   */
  list(filter?: ListFilter): Promise<RuntimeContainer[]>

  /**
   * What a container of ours wrote last, since its last start, to stdout and stderr together, oldest first; also of one that
   * has ended.
   * A line has at most 500 characters, and of control characters tabs alone. At most 64 KiB are read: of lines that are
   * longer together only the last are returned. Empty when the container is gone or was never started.
   * @param lines how many at most
   * @throws {RuntimeError} `unreachable` within 6 s; `failed` where the engine keeps no output
   */
  logs(id: string, lines: number): Promise<string[]>

  /**
   * As `logs`, and then each new line as it is written, until the program ends, the container goes, or the signal aborts.
   * A listener that is slow slows the reading, not this process's memory.
   * @throws {RuntimeError} `missing`, `unreachable`, `failed` as above
   */
  followLogs(
    id: string,
    lines: number,
    onLine: (line: string) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void>

  /** Home volumes of this installation, whoever uses them. @throws {RuntimeError} */
  homes(): Promise<Home[]>

  /**
   * Takes a home volume away, and with it what is in it. Nothing to do when it is gone; a stranger's is never touched.
   * @throws {RuntimeError} `conflict` when a container still has it
   */
  removeHome(volume: string): Promise<void>

  /**
   * Bytes that each home takes on the disk, by the volume's name. Slow: every file is looked at. @param signal ends it
   * @throws {RuntimeError} `failed` where the engine cannot tell
   */
  measureHomes(signal: AbortSignal): Promise<ReadonlyMap<string, number>>

  /** What the host has and what is left of it, asked now. @throws {RuntimeError} `unreachable` within 5 s */
  host(): Promise<HostReport>

  /**
   * What a container of ours has used since its start, also while it is paused; undefined when it does not run.
   * Cheap for the engine, but it may let one wait for a second; ask for several at once.
   * @throws {RuntimeError}
   */
  cpuUsage(id: string): Promise<CpuUsage | undefined>

  /**
   * Calls `onEvent` for each change of a container of ours until the signal aborts, and reconnects for ever.
   * Events can be missed and repeated: they say "look again", not what is. When listening ends or cannot begin, `lost`
   * is told once; from then on nothing is heard until an `other` without id says that anything may have changed meanwhile.
   */
  watch(onEvent: (event: RuntimeEvent) => void, signal: AbortSignal): void
}

/** Whose container it is; written on it as labels and read back from them. */
export interface Owner {
  readonly userId: number
  readonly slug: string
  readonly type: string
}

/** All that an adapter needs to create a container. Decided by `containers/`, never by a client. */
export interface ContainerSpec {
  /** Deterministic, so that a second attempt finds the first. */
  readonly name: string
  readonly owner: Owner
  readonly image: string
  /** Port the app listens on; null asks the image: its single EXPOSE, else 8080. */
  readonly port: number | null
  readonly env: Readonly<Record<string, string>>
  /** Replaces the image's CMD. */
  readonly command: readonly string[] | null
  /** Bytes; swap is not granted on top. */
  readonly memory: number
  /** Cores; an adapter lowers it to what the host has, because the engine refuses more. */
  readonly cpus: number
  readonly pids: number
  /**
   * Named volume that outlives the container, and where it is mounted. `size` in bytes binds a volume that is made now,
   * where the engine's file system can bind one; null asks for no limit.
   */
  readonly home: { readonly volume: string; readonly path: string; readonly size: number | null } | null
  /** OCI runtime such as `runsc`; null is the engine's default. */
  readonly runtime: string | null
  readonly readOnly: boolean
  /** Capabilities on top of the default eight. */
  readonly capAdd: readonly string[]
  /** Lets setuid programs such as sudo gain privileges. */
  readonly allowSetuid: boolean
  /** Changes when anything above changes; tells a container made from an older template. */
  readonly fingerprint: string
}

/** Which containers of this installation; without any word all of them. */
export interface ListFilter {
  readonly userId?: number
  readonly ids?: readonly string[]
  /** Only what runs, is paused or restarts. */
  readonly isUp?: boolean
}

export interface CreateOptions {
  readonly signal?: AbortSignal
  /** Told while the image is pulled, at most some times a second; everybody who waits for the same pull is told the same. */
  readonly onPull?: (progress: PullProgress) => void
}

/** How far a pull is. Totals grow while the registry tells of further layers. */
export interface PullProgress {
  readonly layersDone: number
  readonly layersTotal: number
  readonly bytesDone: number
  readonly bytesTotal: number
}

/** A volume that holds somebody's files. */
export interface Home {
  readonly volume: string
  readonly owner: Owner
}

/** What the host has. Null where it cannot be known from here, as with an engine on another machine. */
export interface HostReport {
  readonly cores: number
  /** Names that a template's `runtime` may have. */
  readonly ociRuntimes: readonly string[]
  /** Whether the size of a home can be bound by the engine. */
  readonly supportsHomeQuota: boolean
  /** Containers that can still be put on networks of ours, those that can still be made included; null before `prepare`, too. */
  readonly addressesLeft: number | null
  /** Bytes. */
  readonly memory: { readonly total: number; readonly available: number } | null
  /** Bytes, of the file system that holds images, containers and homes. */
  readonly disk: { readonly total: number; readonly free: number } | null
  /** Whether rules keep containers away from the host's services and its metadata address; otherwise why not. */
  readonly rules: { readonly areSet: true } | { readonly areSet: false; readonly reason: string }
}

export interface CreatedContainer {
  readonly id: string
  /** The port that was decided: the spec's, or the image's. */
  readonly port: number
}

/** A container as the runtime sees it now. */
export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  /** Null when the container does not carry this installation's labels: it is somebody else's. */
  readonly owner: Owner | null
  /** The engine's own word: created, running, paused, restarting, removing, exited, dead. */
  readonly state: string
  /** Where the app can be reached from this host, while it runs; the engine gives addresses on to others afterwards. */
  readonly address: string | null
  readonly port: number | null
  /** Of the image that it was made from, whatever the image's name means by now. */
  readonly imageId: string
  /** Exit code of the last run; null while running, and where a list does not tell it. */
  readonly exitCode: number | null
  /** Whether the kernel killed a program in it for want of memory, in this run or the last; false where only a list was asked. */
  readonly isOutOfMemory: boolean
  /** When it was started last, in ms since 1970; null when it never was, and where only a list was asked. */
  readonly startedAt: number | null
  /** When its last run ended, in ms since 1970; null while it runs, when it never did, and where only a list was asked. */
  readonly endedAt: number | null
  readonly fingerprint: string | null
}

export interface CpuUsage {
  /** Of all cores together. */
  readonly cpuSeconds: number
}

export interface RuntimeEvent {
  /** Engine id of the container that changed; undefined: of all, or of none that is known. */
  readonly id: string | undefined
  readonly action:
    | 'start'
    | 'die' // the program ended, by itself or not; from now on its address may be another container's
    | 'pause'
    | 'unpause'
    | 'destroy' // the container is gone
    | 'oom' // the kernel killed a program in it; the container may live on
    | 'other' // created, renamed, about to stop...; without id: look at everything again
    | 'lost' // without id: the listener is blind from now on
}

/**
 * Why a runtime could not do it.
 * - `unreachable`: the engine did not answer, or not in time; nothing is known about the world.
 * - `missing`: no such container.
 * - `conflict`: the name is taken.
 * - `image`: the image is neither here nor to be had.
 * - `full`: there is no room for it, as when no network has an address left; what else there is runs on.
 * - `failed`: the engine answered that it cannot.
 */
export type RuntimeErrorKind = 'unreachable' | 'missing' | 'conflict' | 'image' | 'full' | 'failed'

export class RuntimeError extends Error {
  readonly kind: RuntimeErrorKind

  /** @param message what was being done, e.g. `create berth-ann-dev`; the engine's words are in the cause */
  constructor(kind: RuntimeErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'RuntimeError'
    this.kind = kind
  }
}
