import type { HomeContents } from './home-contents.ts'
import type { RuntimeCapabilities } from './runtime-capabilities.ts'
import type { ContainerFiles } from './container-files.ts'
import type { ContainerSpec, CreatedContainer } from './container-spec.ts'
import type { IsolationTrial } from './isolation-trial.ts'
import type { PullProgress, Home, ImageInfo, StartWait, RuntimeContainer, ContainerUsage } from './runtime-container.ts'
import type { HostReport } from './host-capacity.ts'
import type { RuntimeEvent } from './runtime-event.ts'

/**
 * Container runtime port. An adapter translates calls and reports state; it holds no policy.
 * Policy (adopt, start, recreate, one at a time) lives in `containers/`.
 *
 * Three rules that every adapter keeps:
 * - It never changes a container that does not carry this installation's labels.
 * - "I could not ask" is an `unreachable` error, never an empty answer: forgetting is not the same as not knowing.
 * - Every call ends within a limit of its own; a caller may end it earlier through its signal, and gets its reason back.
 */
export interface Runtime {
  readonly capabilities: RuntimeCapabilities

  /**
   * Makes ready what containers need (networks, rules of the host, limits known). Safe to repeat. What it may do without,
   * such as rules that this process may not set, is no failure: `host` reports it.
   * @throws {RuntimeError} `unreachable`; `failed` when what is there would not keep containers apart; `full` when not even one
   *   network can be made
   */
  prepare(): Promise<void>

  /** Resolves when the engine answers. @throws {RuntimeError} `unreachable` within 3 s */
  ping(): Promise<void>

  /**
   * The container of exactly this name, or undefined when there is none.
   * Another installation's container of that name is returned too, with `owner: null`, so that policy can refuse to touch it.
   */
  inspect(name: string): Promise<RuntimeContainer | undefined>

  /** As `inspect`, by the engine's full id. What the gateway asks, because names pass from one container to the next. */
  inspectId(id: string): Promise<RuntimeContainer | undefined>

  /**
   * The id of the image that this name means now, to be compared with a container's; undefined when the engine has none of
   * this name, or no images of its own. Nothing is pulled. @throws {RuntimeError} `unreachable` within 3 s
   */
  imageId(image: string): Promise<string | undefined>

  /** As `imageId`, with what an administrator reads about it. */
  imageInfo(image: string): Promise<ImageInfo | undefined>

  /**
   * Makes sure that the engine has the image, so that no launch waits for it; nothing to do where it has no images of its own.
   * @throws {RuntimeError} `image` when it cannot be had; `unreachable`
   */
  fetchImage(image: string, options?: CreateOptions): Promise<void>

  /**
   * Creates a container, and its home volume when the owner has none. Where stopped containers are kept it does not run yet,
   * and its image is pulled when it is missing; otherwise it runs as soon as the engine can.
   * After a failure nothing new exists but perhaps the volume; after a time-out or an abort perhaps the container, which
   * the next attempt finds by its name.
   * @throws {RuntimeError} `conflict` when the name is taken, `image` when the image cannot be had, `full` when no network
   *   has room and no other can be made
   */
  create(spec: ContainerSpec, options?: CreateOptions): Promise<CreatedContainer>

  /**
   * Makes it run, from any state (created, exited, paused); nothing to do when it runs.
   * Resolving means that the engine started the program, not that the program stays. Where stopped containers are not kept
   * it waits for the start that the creation asked for, which includes the pull of the image; after a failure or
   * an abort the container does not exist any more, and one whose program has ended is `failed`.
   * @throws {RuntimeError} `missing`, `failed`; `full` when the disk of the engine, or the cluster, has no room; `NetworkFull`;
   *   `image` where it waits for the pull
   * @param onWait called with what a start waits for, each time it changes; never where starts wait for nothing
   */
  start(id: string, signal?: AbortSignal, onWait?: (wait: StartWait) => void): Promise<void>

  /**
   * Freezes a running program: its memory and its connections stay, it gets no CPU until `start`.
   * Nothing to do when it is paused.
   * @throws {RuntimeError} `missing`; `failed` when it does not run, or the engine cannot
   */
  pause(id: string, signal?: AbortSignal): Promise<void>

  /**
   * Ends the program: politely, after a while by force; also a paused one. Nothing to do when it is stopped or gone. Where
   * stopped containers are not kept, the container is gone afterwards.
   * @param grace seconds that it has to end by itself; 10 when not given
   */
  stop(id: string, signal?: AbortSignal, grace?: number): Promise<void>

  /** Takes the container away, running or not. Home volumes stay. Nothing to do when it is gone. */
  remove(id: string, signal?: AbortSignal): Promise<void>

  /** As `remove`, but never what runs or is paused by now. @throws {RuntimeError} `conflict` then */
  removeStopped(id: string): Promise<void>

  /**
   * All containers of this installation, of one user, or of those with the given ids what there is, in one engine call.
   * Those of other installations are left out. Asked for ids the engine looks at these alone; else it reads all containers that it has, which
   * takes Docker 0.2 ms for each that it returns, and a tenth of that for each that it skips.
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

  /** Home volumes of this installation. @throws {RuntimeError} */
  homes(): Promise<Home[]>

  /**
   * Takes a home volume away, and with it what is in it. Nothing to do when it is gone; another installation's is never touched.
   * @throws {RuntimeError} `conflict` when a container still has it
   */
  removeHome(volume: string): Promise<void>

  /**
   * Bytes that each home takes on the disk, by the volume's name; null where the engine failed at one, as at a path that is too
   * long, and none where it never measures that kind. Slow: every file is looked at. @param signal ends it
   * @throws {RuntimeError} `failed` where the engine cannot tell
   */
  measureHomes(signal: AbortSignal): Promise<ReadonlyMap<string, number | null>>

  /** What the host has and what is left of it, asked now. @throws {RuntimeError} `unreachable` within 5 s */
  host(): Promise<HostReport>

  /** `HostReport.memory`, without asking the engine. Never rejects. */
  hostMemory(): Promise<HostReport['memory']>

  /**
   * CPU time of a container of ours since its start, and its memory, also while it is paused; undefined when it does not run.
   * Cheap for the engine, but it may let one wait for a second; ask for several at once.
   * @throws {RuntimeError}
   */
  usage(id: string): Promise<ContainerUsage | undefined>

  /**
   * Calls `onEvent` for each change of a container of ours until the signal aborts, and reconnects for ever.
   * Events can be missed and repeated: they say "look again", not what is. When listening ends or cannot begin, it emits `lost`
   * once; then nothing until an `other` without id, which means that anything may have changed meanwhile.
   */
  watch(onEvent: (event: RuntimeEvent) => void, signal: AbortSignal): void

  /** Files of containers that do not run; undefined without the capability `putsFiles`. Asks nothing. */
  containerFiles(): ContainerFiles | undefined

  /** Contents of homes that no program uses; undefined without the capability `readsHomes`. Asks nothing. */
  homeContents(): HomeContents | undefined

  /** A trial of what keeps containers apart; undefined where `host` knows it without one. Asks nothing. */
  isolationTrial(): IsolationTrial | undefined

  /** Numbers about calls to the engine for `/metrics`, by name: duration, results, connections in use. Asks nothing. */
  counts(): Readonly<Record<string, number>>
}

/** Which containers of this installation; without any word all of them. */
export interface ListFilter {
  readonly userId?: number
  readonly ids?: readonly string[]
  /**
   * Only what runs, is paused or restarts. An adapter that the engine tells of each change may answer with what it was told, as long
   * as the engine answers now: what it was not told of is missing then, until a list without this.
   */
  readonly isUp?: boolean
}

export interface CreateOptions {
  readonly signal?: AbortSignal
  /** Called while the image is pulled, some times a second (throttled); all who wait for the same pull get the same. */
  readonly onPull?: (progress: PullProgress) => void
  /**
   * Credentials for the registry of the image; called when it has to be pulled. What it throws is thrown by `create`. Without it
   * the registry is asked as an unknown client.
   */
  readonly credentials?: (() => RegistryCredentials) | undefined
}

/** Account at a registry; in no log, error or store. */
export interface RegistryCredentials {
  readonly username: string
  readonly password: string
}
