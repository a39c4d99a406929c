import type { Duplex } from 'node:stream'
import type { ListeningProgram } from './listening-programs.ts'
import type { ClusterFields, ContainerSpec, CreatedContainer, Owner } from './container-spec.ts'
import type { ImageStore } from './image-store.ts'
import type { ImageBuilds } from './image-builds.ts'

/**
 * Container runtime port. An adapter translates calls and reports state; it holds no policy. Policy (adopt, start,
 * recreate, one at a time) lives in `containers/`.
 *
 * Three rules that every adapter keeps:
 * - It never changes a container that does not carry this installation's labels.
 * - "I could not ask" is an `unreachable` error, never an empty answer: forgetting is not the same as not knowing.
 * - Every call ends within a limit of its own; a caller may end it earlier through its signal, and gets its reason
 *   back.
 */
export interface Runtime {
  readonly capabilities: RuntimeCapabilities

  /**
   * Makes ready what containers need (networks, rules of the host, limits known). Safe to repeat. What it may do
   * without, such as rules that this process may not set, is no failure: `host` reports it.
   * @throws {RuntimeError} `unreachable`; `failed` when what is there would not keep containers apart; `full` when not
   *   even one network can be made
   */
  prepare(): Promise<void>

  /** Resolves when the engine answers. @throws {RuntimeError} `unreachable` within 3 s */
  ping(): Promise<void>

  /**
   * The container of exactly this name, or undefined when there is none. Another installation's container of that name
   * is returned too, with `owner: null`, so that policy can refuse to touch it.
   */
  inspect(name: string): Promise<RuntimeContainer | undefined>

  /** Inspects by the engine's full id. The gateway asks this, because names pass from one container to the next. */
  inspectId(id: string): Promise<RuntimeContainer | undefined>

  /**
   * The id of the image that this name means now, to be compared with a container's; undefined when the engine has none
   * of this name, or no images of its own. Nothing is pulled.
   * @throws {RuntimeError} `unreachable` within 3 s
   */
  imageId(image: string): Promise<string | undefined>

  /** The image that `imageId` finds, with what an administrator reads about it. */
  imageInfo(image: string): Promise<ImageInfo | undefined>

  /**
   * Makes sure that the engine has the image, so that no launch waits for it; nothing to do where it has no images of
   * its own.
   * @throws {RuntimeError} `image` when it cannot be had; `unreachable`
   */
  fetchImage(image: string, options?: CreateOptions): Promise<void>

  /**
   * Creates a container, and its home volume when the owner has none. Where stopped containers are kept it does not run
   * yet, and its image is pulled when it is missing; otherwise it runs as soon as the engine can. After a failure
   * nothing new exists but perhaps the volume; after a time-out or an abort perhaps the container, which the next
   * attempt finds by its name.
   * @throws {RuntimeError} `conflict` when the name is taken, `image` when the image cannot be had, `full` when no
   *   network has room and no other can be made
   */
  create(spec: ContainerSpec, options?: CreateOptions): Promise<CreatedContainer>

  /**
   * Makes it run, from any state (created, exited, paused); nothing to do when it runs. Resolving means that the engine
   * started the program, not that the program stays. Where stopped containers are not kept it waits for the start that
   * the creation asked for, which includes the pull of the image; after a failure or an abort the container does not
   * exist any more, and one whose program has ended is `failed`.
   * @throws {RuntimeError} `missing`, `failed`; `full` when the disk of the engine, or the cluster, has no room;
   *   `NetworkFull`; `image` where it waits for the pull
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
   * Ends the program: politely, after a while by force; also a paused one. Nothing to do when it is stopped or gone.
   * Where stopped containers are not kept, the container is gone afterwards.
   * @param grace seconds that it has to end by itself; 10 when not given
   */
  stop(id: string, signal?: AbortSignal, grace?: number): Promise<void>

  /** Takes the container away, running or not. Home volumes stay. Nothing to do when it is gone. */
  remove(id: string, signal?: AbortSignal): Promise<void>

  /** Removes, but never what runs or is paused by now. @throws {RuntimeError} `conflict` then */
  removeStopped(id: string): Promise<void>

  /**
   * All containers of this installation, of one user, or of those with the given ids what there is, in one engine call.
   * Those of other installations are left out. Asked for ids the engine looks at these alone; else it reads all
   * containers that it has, which takes Docker 0.2 ms for each that it returns, and a tenth of that for each that it
   * skips. For ids `unreachable` follows within 3 s. For all containers the answer may take 30 s, as long as the engine
   * answers pings. For a moment after a program ended its list may still say that it runs; `inspectId` does not.
   */
  list(filter?: ListFilter): Promise<RuntimeContainer[]>

  /**
   * What a container of ours wrote last, since its last start, to stdout and stderr together, oldest first; also of one
   * that has ended. A line has at most 500 characters, and of control characters tabs alone. At most 64 KiB are read:
   * of lines that are longer together only the last are returned. Empty when the container is gone or was never
   * started.
   * @param lines how many at most
   * @throws {RuntimeError} `unreachable` within 6 s; `failed` where the engine keeps no output
   */
  logs(id: string, lines: number): Promise<string[]>

  /**
   * Gives what `logs` gives, and then each new line as it is written, until the program ends, the container goes, or
   * the signal aborts. A listener that is slow slows the reading, not this process's memory.
   * @throws {RuntimeError} `missing`, `unreachable`, `failed` as above
   */
  followLogs(
    id: string,
    lines: number,
    onLine: (line: string) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void>

  /**
   * Starts a program in a container of ours that runs, beside its own: as the container's user, with its environment and
   * rights, and without a terminal.
   * @param command program and arguments; there is no shell between
   * @param signal ends the connection at any time
   * @returns once the engine has taken the command. A program that cannot be run ends at once, with 126 or 127.
   * @throws {RuntimeError} `missing`; `conflict` while it is paused or does not run; `failed`; `unreachable`
   */
  exec(id: string, command: readonly [string, ...string[]], signal: AbortSignal): Promise<ExecProcess>

  /**
   * Programs in a container of ours that accept connections of TCP now, sorted by port.
   * @throws {RuntimeError} as `exec`; `failed` where the container lacks what it takes to ask
   */
  listening(id: string, signal: AbortSignal): Promise<ListeningProgram[]>

  /**
   * A connection to a program that listens in a container of ours, from inside of it: also to one that listens on its
   * loopback alone. To destroy it ends it. @param signal ends it at any time
   * @throws {RuntimeError} as `listening`
   */
  connectToLoopback(id: string, port: number, signal: AbortSignal): Promise<Duplex | 'refused'>

  /** Home volumes of this installation, or of one user. @throws {RuntimeError} */
  homes(userId?: number): Promise<Home[]>

  /** Whether this installation has a home volume of this name. @throws {RuntimeError} */
  hasHome(volume: string): Promise<boolean>

  /**
   * Takes a home volume away, and with it what is in it. Nothing to do when it is gone; another installation's is never
   * touched.
   * @throws {RuntimeError} `conflict` when a container still has it
   */
  removeHome(volume: string): Promise<void>

  /**
   * Makes sure of a volume that containers of several people have, to which every account may write where it is mounted
   * writable.
   * @throws {RuntimeError} `conflict` when it belongs to another installation
   */
  ensureFolder(volume: string): Promise<void>

  /**
   * Takes such a volume away, and with it what is in it. Nothing to do when it is gone or another installation's.
   * @throws {RuntimeError} `conflict` when a container still has it
   */
  removeFolder(volume: string): Promise<void>

  /**
   * Bytes that each home and each folder of several people takes on the disk, by the volume's name; null where the engine failed at one, as at a path
   * that is too long, and none where it never measures that kind. Every file is looked at: for all homes slowly, so that the disk is there for others most of the time, and for those of one user
   * at once.
   * @param signal ends it
   * @throws {RuntimeError} `failed` where the engine cannot tell
   */
  measureHomes(signal: AbortSignal, userId?: number): Promise<ReadonlyMap<string, number | null>>

  /**
   * Bytes that a container of ours has written outside of its volumes: those of the writable layer that its engine keeps
   * for it. `bound` where the engine keeps them below `ContainerSpec.layerSize`; undefined when the container is gone.
   * The engine looks at every file.
   * @param signal ends it
   * @throws {RuntimeError} `failed` where the engine cannot tell
   */
  measureLayer(id: string, signal: AbortSignal): Promise<number | 'bound' | undefined>

  /**
   * As which account the program of a container runs, and whose its home is; undefined where the program can write to every
   * home: as root, or because the engine sees to it.
   * @throws {RuntimeError}
   */
  homeRights(id: string, home: string, signal: AbortSignal): Promise<HomeRights | undefined>

  /** What the host has and what is left of it, asked now. @throws {RuntimeError} `unreachable` within 5 s */
  host(): Promise<HostReport>

  /** `HostReport.memory`, without asking the engine. Never rejects. */
  hostMemory(): Promise<HostReport['memory']>

  /**
   * CPU time of a container of ours since its start, and its memory, also while it is paused; undefined when it does
   * not run. Cheap for the engine, but it may let one wait for a second; ask for several at once.
   * @throws {RuntimeError}
   */
  usage(id: string): Promise<ContainerUsage | undefined>

  /**
   * Calls `onEvent` for each change of a container of ours until the signal aborts, and reconnects for ever. Events can
   * be missed and repeated: they say "look again", not what is. When listening ends or cannot begin, it emits `lost`
   * once; then nothing until an `other` without id, which means that anything may have changed meanwhile.
   */
  watch(onEvent: (event: RuntimeEvent) => void, signal: AbortSignal): void

  /** Files of containers that do not run; undefined without the capability `putsFiles`. Asks nothing. */
  containerFiles(): ContainerFiles | undefined

  /** Contents of homes that no program uses; undefined without the capability `readsHomes`. Asks nothing. */
  homeContents(): HomeContents | undefined

  /** Builds of images; undefined where the engine builds none. Asks nothing. */
  imageBuilds(): ImageBuilds | undefined

  /** Images that were pulled; undefined where they are the affair of nodes. Asks nothing. */
  imageStore(): ImageStore | undefined

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
   * Only what runs, is paused or restarts. An adapter that the engine tells of each change may answer with what it was
   * told, as long as the engine answers now: what it was not told of is missing then, until a list without this.
   */
  readonly isUp?: boolean
  /** Only those with `gpuIds`. */
  readonly hasGpuIds?: boolean
}

export interface CreateOptions {
  readonly signal?: AbortSignal
  /** Called while the image is pulled, some times a second (throttled); all who wait for the same pull get the same. */
  readonly onPull?: (progress: PullProgress) => void
  /**
   * Credentials for the registry of the image; called when it has to be pulled. What it throws is thrown by `create`.
   * Without it the registry is asked as an unknown client.
   */
  readonly credentials?: (() => RegistryCredentials) | undefined
}

/** Account at a registry; in no log, error or store. */
export interface RegistryCredentials {
  readonly username: string
  readonly password: string
}

/**
 * What an engine can do beyond what every engine does. Policy asks before it relies on it, so that no adapter has to
 * imitate another engine.
 */
export interface RuntimeCapabilities {
  /**
   * Whether a container whose program ended stays, and can be started again. Otherwise a container runs from its
   * creation on, a stop removes it, and one whose program ended by itself stays only until the next launch, for its
   * exit code and its output.
   */
  readonly keepsStopped: boolean
  /** Whether a program can be frozen with its memory. */
  readonly pauses: boolean
  /** Whether `usage` has an answer. */
  readonly reportsUsage: boolean
  /** Whether `measureHomes` has an answer. */
  readonly measuresHomes: boolean
  /** Whether the engine has images of its own that can be asked for: their ids, and the port that they expose. */
  readonly hasImages: boolean
  /** Whether containers run on nodes that a template can choose from (`ContainerSpec.cluster`). */
  readonly hasNodes: boolean
  /** Whether containers can have folders and devices of the machine that the engine runs on. */
  readonly mountsHostPaths: boolean
  /**
   * Whether files can be put into a container before it is started (`containerFiles`), and while it is paused or, where nothing can be,
   * while it runs: then what its program does meanwhile leads them nowhere else.
   */
  readonly putsFiles: boolean
  /** Whether homes can be read and written while their containers do not run (`homeContents`). */
  readonly readsHomes: boolean
}

/** How far a pull is. Totals grow while the registry announces further layers. */
export interface PullProgress {
  readonly layersDone: number
  readonly layersTotal: number
  readonly bytesDone: number
  readonly bytesTotal: number
}

/**
 * What a start waits for: a node with room, the pull of the image, the volume of the home, or nothing in particular.
 */
export type StartWait = 'node' | 'image' | 'volume' | 'none'

/**
 * What became of a container that its engine did not let go on: `evicted`: it was ended to free, drain or shut down the
 * machine that it ran on, or was deleted; `node-lost`: that machine does not answer, so it may still run.
 */
export type Disruption = 'evicted' | 'node-lost'

/** Home volume: it holds a user's files. */
export interface Home {
  readonly volume: string
  readonly owner: Owner
}

/** A container as the runtime sees it now. */
export interface RuntimeContainer {
  readonly id: string
  readonly name: string
  /** Null when the container does not carry this installation's labels: it is another's. */
  readonly owner: Owner | null
  /** The engine's own word: created, running, paused, restarting, removing, exited, dead. */
  readonly state: string
  /** Where the app can be reached from this host, while it runs; the engine gives addresses on to others afterwards. */
  readonly address: string | null
  readonly port: number | null
  /** Id of the image that it was made from, even if the image's name means another by now. */
  readonly imageId: string
  /** Exit code of the last run; null while running, and where a list does not tell it. */
  readonly exitCode: number | null
  /**
   * Whether the kernel killed a program in it for want of memory, in this run or the last; false where only a list was
   * asked. An engine may say so a moment after the end: the event `oom` follows then.
   */
  readonly isOutOfMemory: boolean
  /** Undefined where the engine ended nothing. */
  readonly disruption?: Disruption | undefined
  /** Whether it was evicted for what it had written outside of its volumes. */
  readonly isLayerFull?: true | undefined
  /** When it was started last, in ms since 1970; null when it never was, and where only a list was asked. */
  readonly startedAt: number | null
  /**
   * When its last run ended, in ms since 1970; null while it runs, when it never did, and where only a list was asked.
   */
  readonly endedAt: number | null
  readonly fingerprint: string | null
  /** Version in the specification that it was made from; undefined where that named none. */
  readonly templateVersion?: string | undefined
  /** Ids of its GPUs in the specification that it was made from; undefined where that had none. */
  readonly gpuIds?: readonly string[] | undefined
}

/** An image that the engine has. */
export interface ImageInfo {
  /** The id that `RuntimeContainer.imageId` has. */
  readonly id: string
  /** Digest by which its registry knows it; null for one that was built here. */
  readonly digest: string | null
  /** When it was pulled, or built here; null when the engine does not say. */
  readonly taggedAt: Date | null
}

/** What the programs of a container take. */
export interface ContainerUsage {
  /** Since its start, of all cores together. */
  readonly cpuSeconds: number
  /**
   * Now, without the files that the kernel keeps in memory only while it has room; null where the engine does not say.
   */
  readonly memoryBytes: number | null
  /** When it was started last (`RuntimeContainer.startedAt`). */
  readonly startedAt: number | null
}

/** A program that `exec` started, and the connection to it. */
export interface ExecProcess {
  /**
   * What is written is its standard input, which `end` closes; what is read is its standard output, and ends with it.
   * A reader that is slow makes the program wait. To destroy it closes the connection: the program sees the end of its
   * input, and what it writes from then on is lost. No engine ends a program then: one that must not outlive its
   * connection has to end by itself. An error of the connection is a `RuntimeError`, `unreachable`.
   */
  readonly stream: Duplex
  /** Settles after the end of the output; never rejects. */
  readonly ended: Promise<ExecEnd>
}

/** How a program of `exec` ended. */
export interface ExecEnd {
  /** Exit code; null when it is not known, because the connection was closed or broke first. */
  readonly code: number | null
  /** The last 2,000 characters of its error output, or the engine's words for why it could not be run. */
  readonly errors: string
}

/** An event of the engine. */
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
  /** For `destroy`: that it ran, and neither Berth nor its program ended it. */
  readonly isEvicted?: true
}

/** Whether rules keep containers away from the host's services and its metadata address; otherwise why not. */
export type HostRulesReport = { readonly areSet: true } | { readonly areSet: false; readonly reason: string }

/** What the host has. Null where it cannot be known from here, as with an engine on another machine. */
export interface HostReport {
  readonly cores: number | null
  /** Names that a template's `runtime` may have; null where the engine cannot be asked for them. */
  readonly ociRuntimes: readonly string[] | null
  /** Null where the engine cannot be asked for them. */
  readonly hasGpus: boolean | null
  /**
   * Whether the engine sees the devices and folders that this process sees; false where that is not certain, as in a
   * container.
   */
  readonly isThisMachine: boolean
  /** Whether the size of a home can be bound by the engine. */
  readonly supportsHomeQuota: boolean
  /** Whether what a container writes outside of its volumes can be bound by the engine, as far as is known. */
  readonly supportsLayerLimit: boolean
  /**
   * Containers that can still be put on networks of ours, those that can still be made included; null before `prepare`,
   * too.
   */
  readonly addressesLeft: number | null
  /** Bytes. */
  readonly memory: { readonly total: number; readonly available: number } | null
  /** Bytes, of the file system that holds images, containers and homes. */
  readonly disk: { readonly total: number; readonly free: number } | null
  /** Null while it is not known. */
  readonly rules: HostRulesReport | null
  /**
   * What keeps containers from each other and from the machines: firewall rules of the host, or NetworkPolicies of a
   * cluster.
   */
  readonly rulesAre: 'host rules' | 'policies'
}

/** What is at a path in a container. */
export interface FileStatus {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  /** Bytes of a file. */
  readonly size: number
  /** Permission bits. */
  readonly mode: number
}

/** Account in a container. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** Who may write to a home. */
export interface HomeRights {
  readonly program: Account
  readonly owner: Account
  /** Permission bits of the home. */
  readonly mode: number
}

/** Work on files of one home, from its begin on. */
export interface HomeAccess {
  /**
   * What was read and written since the work began was read from the home and written to it, whole. Until then nothing
   * may be decided by what was read, and nothing counts as written, whatever the engine has answered.
   * @throws {RuntimeError} `unreachable`: the engine was stopped meanwhile
   */
  requireWhole(what: string): Promise<void>
  /** Ends the connection. */
  leave(): void
}

/**
 * Port to the files of a container that was created and does not run, for starter files. An engine that lacks it serves
 * templates without them. Paths are absolute in the container, without `..`. An engine follows symbolic links in all
 * parts of a path but the last; callers look at each part first.
 */
export interface ContainerFiles {
  /** Begins work on files of a home. @param volume the home @throws {RuntimeError} */
  begin(volume: string): Promise<HomeAccess>

  /** Undefined when nothing is there. @throws {RuntimeError} */
  status(id: string, path: string, signal: AbortSignal): Promise<FileStatus | undefined>

  /** Target of a symbolic link, as it is written in it. @throws {RuntimeError} */
  linkTarget(id: string, path: string, signal: AbortSignal): Promise<string>

  /** Bytes of a file. @throws {RuntimeError} */
  read(id: string, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Account that the program runs as; of one that runs as root, the owner of the folder, which images that step down to
   * another account prepare for that.
   * @throws {RuntimeError} `failed` when the image names an account that it does not have
   */
  accountFor(id: string, folder: string, signal: AbortSignal): Promise<Account>

  /**
   * Unpacks a tar archive in a folder, with owners and modes as they are in it. A file takes the place of a file or a
   * link, never of a folder. After a failure part of it may be there.
   * @throws {RuntimeError} `full` without room
   */
  write(id: string, folder: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>
}

/** Contents of homes that no program uses at the moment: who calls makes sure of that. */
export interface HomeContents {
  /**
   * A home as a tar archive, with owners, modes, times and links; the first entry is the home itself.
   * @throws {RuntimeError} `missing`; any other kind at its end when it is not complete
   */
  read(volume: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Unpacks a tar archive into a home that exists. What is there and is not in the archive stays.
   * @throws {RuntimeError} `missing`; any other kind, e.g. when the disk is full, or the engine takes nothing more or
   *   is being stopped: a part of the archive may be there then
   */
  add(volume: string, archive: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void>

  /**
   * Removes what is in a folder at the top of a home. An empty file of its name may stay: Docker can replace a folder
   * and not remove one.
   * @throws {RuntimeError} the folder may be whole or in part there then
   */
  discard(volume: string, folder: string, signal: AbortSignal): Promise<void>

  /**
   * What is at a path, as a tar archive: a file is its only entry, a folder comes with what is in it. Names begin with the
   * last part of the path. A symbolic link before that part is not followed.
   * @param path in the home, without `.`, `..` and empty parts; at least one part
   * @throws {NothingThere} @throws {RuntimeError} as `read`
   */
  readAt(volume: string, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array>

  /**
   * Removes what is at a path, found as by `readAt`: a folder with all that is in it, of a link the link alone. An empty
   * file of its name without any permission may stay (`isLeftover`): Docker can replace what is there and not remove it.
   * @param isMountPoint something is mounted there: nothing or a folder stays, at which it can be, and a folder is left as it is
   * @throws {NothingThere} @throws {RuntimeError} `conflict` for a folder at which something is mounted; a part of any other may be
   *   gone after another kind
   */
  removeAt(volume: string, path: string, signal: AbortSignal, isMountPoint?: boolean): Promise<void>

  /**
   * Gives what belongs to one account in a home to another, the home itself last: what was cut off is completed by the next
   * call. No link is followed, and no other file system below it is entered. Undefined where the engine sees to it that every
   * program can write to its home.
   * @throws {RuntimeError} `missing`; `failed` when something could not be changed, as on a file server with `root_squash`
   */
  changeOwner?(home: HomeLocation, work: HomeOwnerWork): Promise<HomeOwnerCounts>
}

/** A home of the engine, or a folder of the machine without symbolic links. */
export type HomeLocation = { readonly volume: string } | { readonly folder: string }

export interface HomeOwnerWork {
  /** `uid` or `uid:gid`; undefined: whose the home itself is. */
  readonly from: string | undefined
  /** `uid` or `uid:gid`; without a group groups stay. */
  readonly to: string
  readonly signal: AbortSignal
  /** Called each second. */
  readonly onProgress: (done: Pick<HomeOwnerCounts, 'seen' | 'changed'>) => void
}

/** How many files and folders of a home were met, and what became of them. */
export interface HomeOwnerCounts {
  readonly seen: number
  readonly changed: number
  /** That belonged to the new account already: the way back gives these away as well. */
  readonly before: number
  /** That could not be changed. */
  readonly left: number
  /** Whose were changed. */
  readonly from: Account
}

/** What a trial runs: a program that listens at its port. A template is one; of its other fields nothing is used. */
export interface TrialProgram extends Pick<
  ContainerSpec,
  'image' | 'port' | 'command' | 'memory' | 'cpus' | 'shmSize' | 'runtime' | 'readOnly' | 'capAdd' | 'allowSetuid'
> {
  /** Path of its home, which is an empty folder in a trial; null without one. */
  readonly home: string | null
  /** Where and with what a cluster runs it; null: as it decides. */
  readonly kubernetes: ClusterFields | null
}

/**
 * Tries whether what should keep containers apart does: an engine may accept rules that nothing enforces. Takes a
 * minute or two; what it makes is gone afterwards, or at the next trial.
 * @returns the result, which `host` reports from then on
 * @throws {RuntimeError} when the program did not run, or could not be reached at all: nothing is known then
 */
type IsolationTrial = (program: TrialProgram, signal: AbortSignal) => Promise<HostRulesReport>
