import type { Logger } from 'pino'
import { message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { ownImageName } from '#/engines/image-builds.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { deleteTrial, insertTrial, listTrials, type StoredTrial } from '#/store/environment-trials.ts'
import { findEnvironment, findVersion } from '#/store/environments.ts'
import { insertRemovals } from '#/store/removals.ts'
import { deleteContainer, findContainer } from '#/store/user-containers.ts'
import { findUser, type User } from '#/store/users.ts'
import { trialType, type Template, type TriedVersion } from '#/templates/template.ts'
import type { EnvironmentRights } from './environment-rights.ts'

export interface EnvironmentTrialsParts {
  readonly database: Database
  readonly containers: Containers
  readonly runtime: Pick<Runtime, 'imageId'>
  readonly rights: EnvironmentRights
  readonly installation: string
  readonly log: Logger
  /** Templates get the images of what is tried, and the gateway their rules. */
  readonly onChange: () => Promise<void>
}

/** Time after which a trial ends, in ms. */
export const maxTrial = 3_600_000
/** Time in which its container is launched, in ms: until then it counts although it does not run. */
const launchTime = 120_000

/** A trial of the person who asks, and its container. */
export interface OwnTrial {
  readonly version: number
  readonly type: string
  readonly endsAt: Date
}

/**
 * Versions that are tried before they are published: each in a container of the person's own, which has no home, and goes
 * when it is stopped, and after an hour. A person tries one version at a time.
 */
export class EnvironmentTrials {
  readonly #parts: EnvironmentTrialsParts
  #trials: readonly StoredTrial[] = []

  constructor(parts: EnvironmentTrialsParts) {
    this.#parts = parts
  }

  /** What is tried at present, by the last `read`. */
  get tried(): TriedVersion[] {
    const { installation } = this.#parts
    const versions = new Map(this.#trials.map((each) => [trialType(each), each]))
    return [...versions.values()].map(({ environment, version }) => ({
      environment,
      version,
      image: ownImageName(installation, environment, version),
    }))
  }

  /** Another process may have begun or ended one. @throws {StoreFailure} */
  async read(): Promise<void> {
    this.#trials = await listTrials(this.#parts.database.db)
  }

  /** The trial of an environment by this person. */
  of(userId: number | null, environment: string): OwnTrial | undefined {
    const found = this.#trials.find((each) => each.userId === userId && each.environment === environment)
    if (!found) return undefined
    const { version, begunAt } = found
    return { version, type: trialType(found), endsAt: new Date(begunAt.getTime() + maxTrial) }
  }

  /** Why this user may not launch this template: a trial belongs to who began it, as long as they may. */
  async refusalFor({ id }: Pick<User, 'id'>, { type, environment }: Template): Promise<Refusal | undefined> {
    if (environment === null || !this.#trials.some((each) => trialType(each) === type)) return undefined
    const { database, rights } = this.#parts
    const isOwn = this.#trials.some((each) => each.userId === id && trialType(each) === type)
    const found = isOwn ? await findEnvironment(database.db, environment) : undefined
    if (!found) return refusals.typeOfGroups()
    try {
      await rights.require(database.db, { id }, found.groupId)
      return undefined
    } catch (error) {
      if (error instanceof Refusal) return error
      throw error
    }
  }

  /**
   * Launches a version in a container of the person's own; a trial that they have ends. Its rights were checked.
   * @returns its trial and the engine's id @throws {Refusal} 409 · as `Launch.launch`
   */
  async begin(
    user: User,
    environment: string,
    version: number,
    actor: Actor,
    now: Date,
  ): Promise<OwnTrial & { readonly containerId: string }> {
    const { database, containers, installation, runtime, onChange } = this.#parts
    const { templates } = containers
    if (!templates.all().some((each) => each.environment === environment))
      throw refusals.conflict(message('environments.noTemplateToTry', { name: environment }))
    const trial = { userId: user.id, environment, version, begunAt: now }
    const type = trialType(trial)
    if (templates.all().some((each) => each.type === type))
      throw refusals.conflict(message('environments.trialTypeTaken', { type }))
    const image = ownImageName(installation, environment, version)
    if ((await runtime.imageId(image)) === undefined)
      throw refusals.conflict(message('environments.imageGone', { version }))
    await this.end(user.id)
    await database.transaction(async (tx) => {
      if (!(await insertTrial(tx, trial))) throw refusals.conflict(message('environments.otherTrial'))
      const detail = { version, type }
      const target = `environment:${environment}`
      await insertAuditEntries(tx, [{ at: now, actor, action: 'environment.try', target, detail }])
    })
    crashPoint('try.after-store')
    await onChange()
    const { containerId } = await containers.launch.launch(user, type, now)
    return { version, type, endsAt: new Date(now.getTime() + maxTrial), containerId }
  }

  /** Ends the trial of a person, if there is one: its container goes with its record. @throws {StoreFailure} */
  async end(userId: number): Promise<boolean> {
    const { database, containers, onChange } = this.#parts
    const found = (await listTrials(database.db)).find((each) => each.userId === userId)
    if (!found) return false
    const type = trialType(found)
    const removed = await database.transaction(async (tx) => {
      await deleteTrial(tx, userId)
      const [owner, record] = [await findUser(tx, userId), await findContainer(tx, userId, type)]
      if (!owner || !record) return []
      await deleteContainer(tx, record.id)
      const gone = [{ userId, slug: owner.slug, type, containerId: record.containerId }]
      await insertRemovals(tx, gone, { isPurge: false, now: new Date() })
      return gone
    })
    crashPoint('try.after-end')
    // The rest is done again by the tasks of containers.
    await Promise.all([containers.publishUsers([userId]), containers.finishRemovals(removed)])
    await onChange()
    return true
  }

  /** Ends trials that were stopped, are over, or have lost their version. @throws {StoreFailure} */
  async clean(now: Date): Promise<void> {
    await this.read()
    for (const trial of this.#trials)
      if (await this.#isOver(trial, now))
        await tryOrLog(this.#parts.log, 'ending the trial of a version', () => this.end(trial.userId))
  }

  async #isOver(trial: StoredTrial, now: Date): Promise<boolean> {
    const { database, containers } = this.#parts
    const { userId, environment, version, begunAt } = trial
    const age = now.getTime() - begunAt.getTime()
    if (age > maxTrial || !containers.templates.get(trialType(trial))) return true
    const found = await findEnvironment(database.db, environment)
    const built = found && (await findVersion(database.db, found.id, version))
    if (built?.state !== 'ready') return true
    const record = await findContainer(database.db, userId, trialType(trial))
    return record?.isStopRequested === true || (age > launchTime && !record?.runningSince)
  }
}
