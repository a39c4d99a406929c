import type { Logger } from 'pino'
import { allSettledOrThrow } from '#/concurrency/try-or-log.ts'
import { crashPoint } from '#/crash-points.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { ContainerSpec, Owner } from '#/runtime/container-spec.ts'
import type { Database } from '#/store/database.ts'
import { storeContainer, type UserContainer } from '#/store/containers/user-containers.ts'
import { explainFailure } from './launch-failure.ts'
import type { LaunchSlot } from '../queue/queue-entry.ts'
import { StartVerifier } from './start-verification.ts'

/** The steps that somebody who waits is told of. */
export type Step = 'creating' | 'starting'

/** A container that is to run: its record, what it is made of, and who is told how far it is. */
export interface Start {
  readonly record: UserContainer
  readonly spec: ContainerSpec
  readonly onStep: (step: Step) => void
}

/** What the engine has to do for a launch, step by step; the store knows the container's id before it is told to run. */
export class Starter {
  readonly #runtime: Runtime
  readonly #database: Database
  readonly #log: Logger
  readonly #startVerifier: StartVerifier

  constructor(runtime: Runtime, database: Database, log: Logger) {
    this.#runtime = runtime
    this.#database = database
    this.#log = log
    this.#startVerifier = new StartVerifier(runtime)
  }

  /**
   * By its name, which a crash does not forget, and then by its id: one that somebody renamed would else run beside the new.
   * @throws {RuntimeError} when the name is taken by a container that is not this user's of this installation
   */
  async find({ record, spec }: Pick<Start, 'record' | 'spec'>): Promise<RuntimeContainer | undefined> {
    const found = await this.#findByName(spec)
    if (found || record.containerId === null) return found
    const known = await this.#runtime.inspectId(record.containerId)
    return known?.owner && isSameOwner(known.owner, spec.owner) ? known : undefined
  }

  async #findByName(spec: ContainerSpec): Promise<RuntimeContainer | undefined> {
    const found = await this.#runtime.inspect(spec.name)
    if (!found) return undefined
    const { owner } = found
    if (owner && isSameOwner(owner, spec.owner)) return found
    throw new RuntimeError('conflict', `the name ${spec.name} is taken by a container that is not ours`)
  }

  /** What runs, whoever started it. */
  async adopt({ record }: Pick<Start, 'record'>, found: RuntimeContainer): Promise<RuntimeContainer> {
    if (record.containerId !== found.id) await this.#store(record, found.id, found.port, record.image)
    return found
  }

  /**
   * A container that is stopped or paused, started; undefined when it has to be made anew. A new template is a reason for
   * that, too, and so is a new image of the old name. @throws {RuntimeError} when the engine does not answer
   */
  async tryToStart(start: Start, found: RuntimeContainer): Promise<RuntimeContainer | undefined> {
    const { record, spec } = start
    if (!isUpToDate(found, spec) || (await isImageOutdated(this.#runtime, found, spec.image))) return undefined
    try {
      await this.#store(record, found.id, found.port, spec.image)
      return await this.#startAndVerify(start, found.id)
    } catch (error) {
      if (error instanceof RuntimeError && error.kind === 'unreachable') throw error
      this.#log.warn({ err: error, container: spec.name }, 'a stopped container could not be started; making a new one')
      return undefined
    }
  }

  /** A new container in place of an old one. @throws {RuntimeError} `LaunchFailure` when it does not run */
  async createAndStart(start: Start, old: RuntimeContainer | undefined, slot: LaunchSlot): Promise<RuntimeContainer> {
    const { record, spec } = start
    start.onStep('creating')
    if (old) await this.#runtime.remove(old.id)
    const created = await this.#createOrFind(spec, slot)
    crashPoint('launch.after-create')
    // The id is stored while the engine starts: both take time, and neither needs the other. When the store fails, the
    // start goes on; a stop that waits for this flight has to find it done.
    const [instance] = await allSettledOrThrow([
      this.#startAndVerify(start, created.id),
      this.#store(record, created.id, created.port, spec.image),
    ])
    return instance
  }

  /** Stops and removes what is there. @throws {RuntimeError} */
  async remove(start: Pick<Start, 'record' | 'spec'>): Promise<void> {
    const old = await this.find(start)
    if (!old) return
    await this.#runtime.stop(old.id)
    crashPoint('restart.after-stop')
    await this.#runtime.remove(old.id)
    crashPoint('restart.after-remove')
  }

  /** When another process was quicker with the same name, its container is the one. */
  async #createOrFind(spec: ContainerSpec, slot: LaunchSlot): Promise<{ id: string; port: number | null }> {
    try {
      return await slot.create((options) => this.#runtime.create(spec, options))
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'conflict') throw error
      const found = await this.#findByName(spec)
      if (!found) throw error
      return found
    }
  }

  /** Why it failed is asked at once: whoever removes it removes its last words, too. */
  async #startAndVerify({ spec, onStep }: Start, id: string): Promise<RuntimeContainer> {
    try {
      onStep('starting')
      await this.#runtime.start(id)
      crashPoint('launch.after-start')
      return await this.#startVerifier.verify(spec, id)
    } catch (error) {
      throw error instanceof RuntimeError ? await explainFailure(this.#runtime, error) : error
    }
  }

  async #store(record: UserContainer, containerId: string, port: number | null, image: string): Promise<void> {
    await storeContainer(this.#database.db, record.id, { containerId, port, image })
    crashPoint('launch.after-id')
  }
}

/** A paused one stays what it is: its memory is what was paused for. */
export const isUpToDate = ({ state, fingerprint }: RuntimeContainer, spec: Pick<ContainerSpec, 'fingerprint'>) =>
  state === 'paused' || fingerprint === spec.fingerprint

/**
 * Whether the image's name means another image by now, as after an operator has built it again: one call to the engine, so
 * only of what is about to be started. What is only paused goes on with the old one; so does what is started while the engine
 * cannot say, or has no image of this name any more.
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

/** By slug as well: after an older store was restored, ids are given again. */
const isSameOwner = (one: Owner, other: Owner) =>
  one.userId === other.userId && one.slug === other.slug && one.type === other.type
