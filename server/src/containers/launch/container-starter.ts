import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { ContainerSpec, Owner } from '#/engines/container-spec.ts'
import type { CreateOptions, Runtime, RuntimeCapabilities, RuntimeContainer, StartWait } from '#/engines/runtime.ts'
import { NetworkFull, RuntimeError, readWithRetries } from '#/engines/runtime-error.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { allSettledOrThrow, tryOrLog } from '#/machine/try-or-log.ts'
import type { Database } from '#/store/database.ts'
import { storeContainer, type UserContainer } from '#/store/user-containers.ts'
import type { MountedGroupFolder } from '#/templates/launch-rules.ts'
import type { StarterFiles, Template } from '#/templates/template.ts'
import type { PutStarterFiles } from '#/templates/starter-files/put-starter-files.ts'
import { ExitedOnStart, LaunchFailure, explainFailure } from './launch-failure.ts'
import type { LaunchSlot } from './launch-queue.ts'

/** Steps of a launch that are reported to its owner. */
export type Step = 'creating' | 'starting'

/** A container to start: its record, its specification, and the receiver of its progress. */
export interface Start {
  readonly record: UserContainer
  readonly spec: ContainerSpec
  /** For the registry of its image. */
  readonly credentials: CreateOptions['credentials']
  readonly files: readonly StarterFiles[]
  /** Folders of groups that it has. */
  readonly folders: readonly MountedGroupFolder[]
  /** By `performance.now()`. */
  readonly requestedAt: number
  readonly onStep: (step: Step) => void
  /** What its start waits for, where starts wait. */
  readonly onWait: (wait: StartWait) => void
}

/**
 * Called before a home gets another image than it had, while nothing runs with it. With a signal it rejects when the launch is not
 * to go on: it was cancelled, or is to be tried again later. Without one it does not reject.
 */
export type BeforeImage = (owner: Owner, signal: AbortSignal | undefined) => Promise<void>

export interface ContainerStarterParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly starterFiles: Pick<PutStarterFiles, 'run'>
  /** Undefined: nothing is to be done then. */
  readonly beforeImage: BeforeImage | undefined
  readonly log: Logger
}

/**
 * Calls of the engine for a launch, step by step. The id of a new container is stored while the engine starts it; where that fails
 * the container is found by its name.
 */
export class ContainerStarter {
  readonly #runtime: Runtime
  readonly #database: Database
  readonly #log: Logger
  readonly #startVerifier: StartVerifier
  readonly #starterFiles: Pick<PutStarterFiles, 'run'>
  readonly #beforeImage: BeforeImage | undefined

  constructor({ runtime, database, starterFiles, beforeImage, log }: ContainerStarterParts) {
    this.#runtime = runtime
    this.#starterFiles = starterFiles
    this.#beforeImage = beforeImage
    this.#database = database
    this.#log = log
    this.#startVerifier = new StartVerifier(runtime)
  }

  /**
   * Finds the container by its name, which survives a crash, and then by its id: a renamed one would otherwise run
   * beside the new one.
   * @throws {RuntimeError} when a container that is not this user's of this installation has the name
   */
  async find(start: Pick<Start, 'record' | 'spec'>): Promise<RuntimeContainer | undefined> {
    // Both at once: after its container was removed, a launch would wait for two answers that there is none.
    const [found, known] = await allSettledOrThrow([this.#findByName(start.spec), this.#findById(start)])
    return found ?? known
  }

  async #findById({ record, spec }: Pick<Start, 'record' | 'spec'>): Promise<RuntimeContainer | undefined> {
    const known = record.containerId === null ? undefined : await this.#runtime.inspectId(record.containerId)
    return known?.owner && isSameOwner(known.owner, spec.owner) ? known : undefined
  }

  async #findByName(spec: ContainerSpec): Promise<RuntimeContainer | undefined> {
    const found = await this.#runtime.inspect(spec.name)
    if (!found) return undefined
    const { owner } = found
    if (owner && isSameOwner(owner, spec.owner)) return found
    throw new RuntimeError('conflict', `the name ${spec.name} is taken by a container that is not ours`)
  }

  /** Adopts a running container, whatever started it. */
  async adopt({ record }: Pick<Start, 'record'>, found: RuntimeContainer): Promise<RuntimeContainer> {
    if (record.containerId !== found.id) await this.#store(record, found.id, found.port, record.image)
    return found
  }

  /**
   * Starts a stopped or paused container; undefined when a new one has to be created: after a failed start, for a new
   * template, for a new image of the same name, when it was never started and may lack starter files, and when it has
   * written too much outside of its home.
   * @throws {RuntimeError} when the engine does not answer, or has no room; {StoreFailure} when the store does not. The container stays
   */
  async tryToStart(start: Start, found: RuntimeContainer, slot?: LaunchSlot): Promise<RuntimeContainer | undefined> {
    const { record, spec } = start
    if (record.fullLayer !== null || !canBeStarted(this.#runtime.capabilities, found, start)) return undefined
    if (!isUpToDate(found, spec) || !hasGpus(found, spec.gpuIds)) return undefined
    if (await isImageOutdated(this.#runtime, found, spec.image)) return undefined
    try {
      await this.#store(record, found.id, found.port, spec.image)
      return await this.#startAndVerify(start, found.id, slot)
    } catch (error) {
      if (!mayNewOneStart(error)) throw error
      this.#log.warn(
        { err: error, container: spec.name },
        'a stopped container could not be started; creating a new one',
      )
      return undefined
    }
  }

  /**
   * Creates and starts a container in place of an old one. @param oldImage id of the image that one had, if it is known
   * @throws {RuntimeError} `LaunchFailure` when it does not run
   */
  async createAndStart(
    start: Start,
    old: RuntimeContainer | undefined,
    oldImage: string | undefined,
    slot: LaunchSlot,
  ): Promise<RuntimeContainer> {
    const { record, spec } = start
    start.onStep('creating')
    if (old) await this.fetchImage(start, slot)
    // What is paused may still write when it ends.
    const isKept = old !== undefined && ['created', 'exited', 'dead'].includes(old.state)
    if (isKept) await this.#prepareHome(start, oldImage, slot, isKept)
    if (old) await this.#runtime.remove(old.id)
    if (!isKept) await this.#prepareHome(start, oldImage, slot, isKept)
    for (const { volume } of start.folders) await this.#runtime.ensureFolder(volume)
    const created = await this.#createOrFind(start, slot)
    crashPoint('launch.after-create')
    if (start.files.length > 0 && created.isNew) await this.#putFiles(start, created.id, slot)
    // The id is stored while the engine starts the container: both take time, and they are independent. If the store
    // fails the start completes all the same; a stop that waits for this flight needs its result.
    const [container] = await allSettledOrThrow([
      this.#startAndVerify(start, created.id, slot),
      this.#store(record, created.id, created.port, spec.image, start.folders),
    ])
    return container
  }

  /**
   * Makes sure that there is an image for a new container before the old one is removed: where it cannot be had, that one can still be
   * started, once its template is as it was. @throws {RuntimeError} `image` when it cannot be had
   */
  async fetchImage({ spec, credentials }: Start, slot: LaunchSlot): Promise<void> {
    await slot.create((options) => this.#runtime.fetchImage(spec.image, { ...options, credentials }))
  }

  /**
   * A record that was forgotten, because its container was removed from outside, has its home and the name of the image still. The
   * launch may end here only if the next one learns that the image is another: by its name, or by the old container.
   * @param isKept whether that is still there
   */
  async #prepareHome(
    { record, spec }: Start,
    oldImage: string | undefined,
    slot: LaunchSlot,
    isKept: boolean,
  ): Promise<void> {
    const beforeImage = this.#beforeImage
    if (!beforeImage || spec.home === null) return
    const hasOtherName = record.image !== spec.image
    const isOther =
      hasOtherName ||
      (oldImage !== undefined &&
        (await isImageOutdated(this.#runtime, { state: 'exited', imageId: oldImage }, spec.image)))
    if (isOther) await slot.fetch((signal) => beforeImage(spec.owner, isKept || hasOtherName ? signal : undefined))
  }

  /** Stops and removes the existing container. @returns id of the image that it had @throws {RuntimeError} */
  async remove(start: Pick<Start, 'record' | 'spec'>): Promise<string | undefined> {
    const old = await this.find(start)
    if (!old) return undefined
    await this.#runtime.stop(old.id)
    crashPoint('restart.after-stop')
    await this.#runtime.remove(old.id)
    crashPoint('restart.after-remove')
    return old.imageId
  }

  /** The container is of no use without its files, and the next launch would not tell it from one that has them. */
  async #putFiles({ spec, files, requestedAt }: Start, id: string, slot: LaunchSlot): Promise<void> {
    const { name, home } = spec
    if (!home) return
    try {
      const container = { id, name, volume: home.volume, home: home.path, requestedAt }
      await slot.fetch((signal) => this.#starterFiles.run(container, files, signal))
    } catch (error) {
      await tryOrLog(this.#log, `removing ${name}, which lacks its starter files`, () => this.#runtime.remove(id))
      throw error
    }
  }

  /** If another process created the same name first, its container is used. */
  async #createOrFind(
    { spec, credentials }: Start,
    slot: LaunchSlot,
  ): Promise<{ id: string; port: number | null; isNew: boolean }> {
    try {
      return {
        ...(await slot.create((options) => this.#runtime.create(spec, { ...options, credentials }))),
        isNew: true,
      }
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'conflict') throw error
      const found = await this.#findByName(spec)
      if (!found) throw error
      return { ...found, isNew: false }
    }
  }

  /** Starts or unpauses a container, and no more. @param slot others have it while the start waits @throws {RuntimeError} */
  async start(id: string, onWait: Start['onWait'], slot: LaunchSlot | undefined): Promise<void> {
    if (!slot) return this.#runtime.start(id, undefined, onWait)
    return slot.start((given) => this.#runtime.start(id, given.signal, (wait) => (given.onWait(wait), onWait(wait))))
  }

  /** The cause of a failure is read at once: removing the container removes its output. */
  async #startAndVerify(
    { spec, onStep, onWait }: Start,
    id: string,
    slot: LaunchSlot | undefined,
  ): Promise<RuntimeContainer> {
    try {
      onStep('starting')
      await this.start(id, onWait, slot)
      crashPoint('launch.after-start')
      return await this.#startVerifier.verify(spec, id)
    } catch (error) {
      throw error instanceof RuntimeError ? await explainFailure(this.#runtime, error) : error
    }
  }

  /** @param folders of groups that it was created with; undefined: as before */
  async #store(
    record: UserContainer,
    containerId: string,
    port: number | null,
    image: string,
    folders?: readonly MountedGroupFolder[],
  ): Promise<void> {
    await storeContainer(this.#database.db, record.id, { containerId, port, image, ...(folders && { folders }) })
    crashPoint('launch.after-id')
  }
}

/**
 * Whether a new container may start where this one failed to. Only the engine can tell that it is of no use: a full disk of the
 * store must not cost a paused program, nor one of the engine the files outside the home.
 */
function mayNewOneStart(error: unknown): boolean {
  if (!(error instanceof RuntimeError) || error.kind === 'unreachable' || wasKilled(error)) return false
  return error.kind !== 'full' || error.cause instanceof NetworkFull
}

/** The kernel, which was short of memory, or an engine that is being stopped, ended its program: another one would fare no better. */
const wasKilled = (error: RuntimeError) =>
  error instanceof LaunchFailure && (error.isOutOfMemory || killedCodes.has(error.exitCode ?? 0))

/** Exit codes of a program that SIGKILL or SIGTERM ended: 128 and the number of the signal. */
const killedCodes: ReadonlySet<number> = new Set([137, 143])

/** By slug as well: after an older store is restored, ids are assigned again. */
const isSameOwner = (one: Owner, other: Owner) =>
  one.userId === other.userId && one.slug === other.slug && one.type === other.type

/**
 * Whether this container can be made to run. One that was never started may lack the starter files of its template, because Berth
 * ended before it had put them there. Where stopped containers are not kept, one whose program ended exists for its exit code and
 * its output only, and one that is being removed is about to be gone.
 */
export function canBeStarted(
  { keepsStopped }: Pick<RuntimeCapabilities, 'keepsStopped'>,
  { state }: Pick<RuntimeContainer, 'state'>,
  { files }: Pick<Template, 'files'>,
): boolean {
  if (state === 'created') return files.length === 0
  return keepsStopped || state === 'running' || state === 'paused'
}

/** A paused container is kept as it is: pausing is for keeping its memory. */
export const isUpToDate = ({ state, fingerprint }: RuntimeContainer, spec: Pick<ContainerSpec, 'fingerprint'>) =>
  state === 'paused' || fingerprint === spec.fingerprint

/** Whether it was made with these GPUs; with undefined, whether its engine chooses them. What is paused keeps its own. */
export const hasGpus = ({ state, gpuIds }: RuntimeContainer, ids: readonly string[] | undefined) =>
  state === 'paused' || gpuIds?.join() === ids?.join()

/**
 * Whether the image's name now names another image, as after a rebuild: one call to the engine, so only before a start.
 * A paused container keeps the old image; so does one that is started while the engine cannot tell, or has no image of
 * this name any more.
 */
export async function isImageOutdated(
  runtime: Pick<Runtime, 'imageId'>,
  { state, imageId }: Pick<RuntimeContainer, 'state' | 'imageId'>,
  image: string,
): Promise<boolean> {
  if (state === 'paused') return false
  const now = await runtime.imageId(image).catch(() => undefined)
  return now !== undefined && now !== imageId
}

/**
 * How long a program is watched after its start, in ms. One that cannot start (no such file, bad configuration) has
 * ended by then; the engine notices an end only 50 to 100 ms after it.
 */
const watchTime = 500
const watchInterval = 50

/**
 * Start verification: decides whether a started container counts as running. The engine reports it running from the
 * moment the program begins, also if it ends at once, and watching every start for half a second would double the
 * duration of a launch. So starts of a template are watched until one of its containers has lasted. After that a start
 * counts at once and is checked again later; one that did not last makes the next starts be watched again.
 */
export class StartVerifier {
  readonly #runtime: Runtime
  readonly #trusted = new Set<string>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /**
   * On a cluster an inspect without an answer is repeated for 20 s.
   * @returns the container, running @throws {ExitedOnStart} when it ended while it was watched; {RuntimeError} `unreachable`
   */
  async verify(spec: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const isTrusted = this.#trusted.has(programOf(spec))
    const container = isTrusted ? await this.#inspect(spec, id) : await this.#watch(spec, id)
    if (isTrusted) this.#recheckLater(spec, id)
    else this.#trusted.add(programOf(spec))
    return container
  }

  async #watch(spec: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const started = performance.now()
    let container = await this.#inspect(spec, id)
    while (performance.now() - started < watchTime) {
      await sleep(watchInterval)
      container = await this.#inspect(spec, id)
    }
    return container
  }

  async #inspect({ name }: ContainerSpec, id: string): Promise<RuntimeContainer> {
    const { capabilities } = this.#runtime
    const inspect = () => this.#runtime.inspectId(id)
    // The API server of a cluster may be too busy for one inspect; a machine's own engine that does not answer is down.
    const container = await (capabilities.hasNodes ? readWithRetries(inspect) : inspect())
    if (container?.state === 'running') return container
    throw new ExitedOnStart(name, container)
  }

  /** In the background. A container that is gone, or an engine that does not answer, says nothing about the program. */
  #recheckLater(spec: ContainerSpec, id: string): void {
    const check = async () => {
      const container = await this.#runtime.inspectId(id).catch(() => undefined)
      if (container && container.state !== 'running') this.#trusted.delete(programOf(spec))
    }
    setTimeout(() => void check(), watchTime).unref()
  }
}

/** What decides whether a start works, without the owner. */
const programOf = ({ image, command, runtime, readOnly, owner }: ContainerSpec) =>
  JSON.stringify([owner.type, image, command, runtime, readOnly])
