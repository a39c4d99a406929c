import type { Logger } from 'pino'
import { attempt } from '#/attempt.ts'
import { reached } from '#/crash-points.ts'
import { refusals, type Refusal } from '#/errors.ts'
import { RuntimeError, type Instance, type InstanceSpec, type Owner, type Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import {
  ensureContainer,
  findContainer,
  noteStopped,
  storeInstance,
  touchContainer,
  type UserContainer,
} from '#/store/user-containers.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Flights } from './flights.ts'
import { instanceSpec, type Dweller, type InstanceSettings } from './instance-spec.ts'
import { absence } from './known-container.ts'
import { ownedKey, type OwnedType } from './owned-type.ts'
import type { Places } from './places.ts'
import type { Removal } from './removal.ts'
import { Settling } from './settling.ts'
import type { Template } from './template.ts'

/**
 * A reason why this user's container of this type may not be started now; undefined when there is none. Asked before
 * anything is started, when the container does not run already. Must end within a limit of its own.
 */
export type LaunchCheck = (user: User, template: Template) => Refusal | undefined | Promise<Refusal | undefined>

export interface SpawnerParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly settings: InstanceSettings
  readonly flights: Flights
  /** Told what became of every launch before its caller is. */
  readonly places: Pick<Places, 'publishContainer'>
  /** What was deleted is gone before anything new is made in its place. */
  readonly removal: Pick<Removal, 'finishInFlight'>
  /** Asked in this order; the first refusal counts. */
  readonly checks: readonly LaunchCheck[]
  readonly log: Logger
}

/** A container that runs. */
export interface Running {
  readonly containerId: string
}

/**
 * The policy above the runtime: at most one container per user and type, found by its derived name.
 * - The record is written before the engine is asked, the engine's id after: a crash leaves nothing that the next
 *   launch would not find and finish.
 * - What runs is adopted, what is stopped is started, what cannot be started is removed and made anew.
 * - An engine that does not answer is no reason to remove anything; a stranger's container never is touched.
 */
export class Spawner {
  readonly #runtime: Runtime
  readonly #database: Database
  readonly #settings: InstanceSettings
  readonly #flights: Flights
  readonly #places: SpawnerParts['places']
  readonly #removal: SpawnerParts['removal']
  readonly #checks: readonly LaunchCheck[]
  readonly #log: Logger
  readonly #settling: Settling

  constructor({ runtime, database, settings, flights, places, removal, checks, log }: SpawnerParts) {
    this.#runtime = runtime
    this.#database = database
    this.#settings = settings
    this.#flights = flights
    this.#places = places
    this.#removal = removal
    this.#checks = checks
    this.#log = log
    this.#settling = new Settling(runtime)
  }

  /**
   * Makes sure that the user's container of this type runs, and that the gateway knows where.
   * Source: specification, Container lifecycle rules and launch 3, 4.
   * @throws {Refusal} 403 when it was blocked meanwhile; it does not run then
   * @throws {RuntimeError} when it could not be made to run; what exists by then is found by the next launch
   */
  async ensureRunning(user: User, template: Template, now: Date): Promise<Running> {
    return this.#fly('launch', user, template, now, async () => undefined)
  }

  /**
   * As `ensureRunning`, for what ran before the engine restarted; nobody asked for it, so everybody who did goes first.
   * @throws as `ensureRunning`
   */
  async restore(user: User, template: Template, now: Date): Promise<Running> {
    return this.ensureRunning(user, template, now)
  }

  /**
   * Takes the old container away and makes a new one; the home stays. Source: specification, restart 2 and 3: a failure
   * to remove is logged and ignored, and then the old one is used again rather than refused.
   */
  async replace(user: User, template: Template, now: Date): Promise<Running> {
    return this.#fly('replace', user, template, now, () =>
      attempt(this.#log, `removing the old container of user ${user.id}`, () => this.#removeOld(user, template)),
    )
  }

  /**
   * Stops what runs of a blocked (user, type), after whatever is under way for it; nothing, when the block was lifted
   * meanwhile. Found by its labels: a crash can leave a container whose id no record knows.
   * @throws {RuntimeError}
   */
  async stopBlocked({ userId, type }: OwnedType): Promise<void> {
    return this.#flights.join(ownedKey({ userId, type }), 'stop', async () => {
      if (!(await this.blockOf(userId, type))) return
      const instances = await this.#runtime.list({ userId })
      await noteStopped(this.#database.db, userId, type, new Date())
      for (const { id, owner } of instances) if (owner?.type === type) await this.#runtime.stop(id)
      await this.#places.publishContainer({ userId, type })
    })
  }

  /** What a container made now would be made of; another one is replaced when it is started. */
  fingerprintOf(user: Dweller, template: Template): string {
    return instanceSpec(user, template, this.#settings).fingerprint
  }

  /** What launch and replace share, one after the other for each container. */
  async #fly(
    verb: 'launch' | 'replace',
    user: User,
    template: Template,
    now: Date,
    prepare: () => Promise<unknown>,
  ): Promise<Running> {
    const key = ownedKey({ userId: user.id, type: template.type })
    return this.#flights.join(key, verb, () => this.ensureInFlight(user, template, now, prepare))
  }

  /** As `ensureRunning`, for who is in a flight of this container already: the record first, then `prepare`, then the engine. */
  async ensureInFlight(
    user: User,
    template: Template,
    now: Date,
    prepare: () => Promise<unknown> = async () => undefined,
  ): Promise<Running> {
    const owned = { userId: user.id, type: template.type }
    try {
      const running = await this.#launch(user, template, now, prepare)
      await this.#places.publishContainer(owned, { failure: undefined })
      return running
    } catch (error) {
      await attempt(this.#log, `publishing that ${owned.type} of user ${user.id} did not start`, () =>
        this.#places.publishContainer(owned, outcomeOf(error)),
      )
      throw error
    }
  }

  async #launch(user: User, template: Template, now: Date, prepare: () => Promise<unknown>): Promise<Running> {
    await this.#removal.finishInFlight({ userId: user.id, slug: user.slug, type: template.type })
    const record = await this.#recordOf(user, template, now)
    const spec = instanceSpec(user, template, this.#settings)
    const found = await this.#inspectOurs(spec)
    if (found?.state !== 'running') await this.#refuse(user, template)
    await prepare()
    const instance = await this.#makeRunning(spec, record)
    await touchContainer(this.#database.db, record.id, now)
    reached('launch.before-answer')
    return { containerId: instance.id }
  }

  /** Read again inside the flight: a block may have been stored while this launch waited its turn. */
  async #recordOf(user: User, template: Template, now: Date): Promise<UserContainer> {
    reached('launch.before-record')
    const record = await this.#ensureRecord(user, template, now)
    reached('launch.after-record')
    if (record.isBlocked) throw refusals.containerBlocked(record.blockedAt)
    return record
  }

  /** @throws {Refusal} 404 when the account was deleted meanwhile: the store takes no record of nobody */
  async #ensureRecord(user: User, template: Template, now: Date): Promise<UserContainer> {
    try {
      return await ensureContainer(this.#database.db, user.id, template.type, template.image, now)
    } catch (error) {
      throw (await findUser(this.#database.db, user.id)) ? error : refusals.userGone()
    }
  }

  async #refuse(user: User, template: Template): Promise<void> {
    for (const check of this.#checks) {
      const refusal = await check(user, template)
      if (refusal) throw refusal
    }
  }

  async #makeRunning(spec: InstanceSpec, record: UserContainer): Promise<Instance> {
    const instance = await this.#adoptOrStart(record, spec, await this.#inspectOurs(spec))
    await this.#stopIfBlocked(record, instance)
    return instance
  }

  async #adoptOrStart(record: UserContainer, spec: InstanceSpec, found: Instance | undefined): Promise<Instance> {
    if (found?.state === 'running') return this.#adopt(record, found)
    const started = found && (await this.#tryToStart(record, spec, found))
    return started ?? this.#createAndStart(record, spec, found)
  }

  /** @throws when the name is taken by a container that is not this user's of this installation */
  async #inspectOurs(spec: InstanceSpec): Promise<Instance | undefined> {
    const found = await this.#runtime.inspect(spec.name)
    if (!found) return undefined
    const { owner } = found
    if (owner && isSameOwner(owner, spec.owner)) return found
    throw new RuntimeError('conflict', `the name ${spec.name} is taken by a container that is not ours`)
  }

  async #adopt(record: UserContainer, found: Instance): Promise<Instance> {
    if (record.containerId !== found.id) await this.#store(record, found.id, found.port, record.image)
    return found
  }

  /** A stopped container, started; undefined when it has to be made anew. A new template is a reason for that, too. */
  async #tryToStart(record: UserContainer, spec: InstanceSpec, found: Instance): Promise<Instance | undefined> {
    if (found.state !== 'paused' && found.fingerprint !== spec.fingerprint) return undefined
    try {
      await this.#store(record, found.id, found.port, spec.image)
      return await this.#startAndSettle(spec, found.id)
    } catch (error) {
      if (error instanceof RuntimeError && error.kind === 'unreachable') throw error
      this.#log.warn({ err: error, container: spec.name }, 'a stopped container could not be started; making a new one')
      return undefined
    }
  }

  async #createAndStart(record: UserContainer, spec: InstanceSpec, old: Instance | undefined): Promise<Instance> {
    if (old) await this.#runtime.remove(old.id)
    const created = await this.#createOrFind(spec)
    reached('launch.after-create')
    // The id is stored while the engine starts: both take time, and neither needs the other.
    const [instance] = await Promise.all([
      this.#startAndSettle(spec, created.id),
      this.#store(record, created.id, created.port, spec.image),
    ])
    return instance
  }

  /** When another process was quicker with the same name, its container is the one. */
  async #createOrFind(spec: InstanceSpec): Promise<{ id: string; port: number | null }> {
    try {
      return await this.#runtime.create(spec)
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'conflict') throw error
      const found = await this.#inspectOurs(spec)
      if (!found) throw error
      return found
    }
  }

  async #startAndSettle(spec: InstanceSpec, id: string): Promise<Instance> {
    await this.#runtime.start(id)
    reached('launch.after-start')
    return this.#settling.settle(spec, id)
  }

  /** Blocking does not wait for a launch that is under way; the launch looks once more before it promises anything. */
  async #stopIfBlocked(record: UserContainer, instance: Instance): Promise<void> {
    const block = await this.blockOf(record.userId, record.type)
    if (!block) return
    await noteStopped(this.#database.db, record.userId, record.type, new Date())
    await this.#runtime.stop(instance.id)
    throw block
  }

  /** The refusal of whoever has launched it now: blocked, or deleted meanwhile. Undefined when nobody would be refused. */
  async blockOf(userId: number, type: string): Promise<Refusal | undefined> {
    const [record, user] = await Promise.all([
      findContainer(this.#database.db, userId, type),
      findUser(this.#database.db, userId),
    ])
    if (!user) return refusals.userGone()
    if (!record) return refusals.containerDeleted()
    if (record.isBlocked) return refusals.containerBlocked(record.blockedAt)
    return user.isBlocked ? refusals.userBlockedFromContainers(record.blockedAt) : undefined
  }

  async #removeOld(user: User, template: Template): Promise<void> {
    const spec = instanceSpec(user, template, this.#settings)
    const old = await this.#inspectOurs(spec)
    if (!old) return
    await this.#runtime.stop(old.id)
    reached('restart.after-stop')
    await this.#runtime.remove(old.id)
    reached('restart.after-remove')
  }

  async #store(record: UserContainer, containerId: string, port: number | null, image: string): Promise<void> {
    await storeInstance(this.#database.db, record.id, { containerId, port, image })
    reached('launch.after-id')
  }
}

/** By slug as well: after an older store was restored, ids are given again. */
const isSameOwner = (one: Owner, other: Owner) =>
  one.userId === other.userId && one.slug === other.slug && one.type === other.type

/** What a failure says about the container; nothing, when it says more about the block or the engine. */
function outcomeOf(error: unknown): Parameters<Places['publishContainer']>[1] {
  if (!(error instanceof RuntimeError) || error.kind === 'unreachable') return undefined
  return { failure: absence(error.kind === 'image' ? 'no-image' : 'failed') }
}
