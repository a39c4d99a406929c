import { Readable } from 'node:stream'
import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'
import { list, message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import type { Admin } from '#/admin/open-admin.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import {
  countEnvironments,
  deleteEnvironment,
  findEnvironment,
  findVersion,
  insertEnvironment,
  insertVersion,
  listEnvironments,
  listVersions,
  readLog,
  setPublished,
  updateEnvironment,
  type EnvironmentFields,
  type StoredEnvironment,
  type StoredVersion,
} from '#/store/environments.ts'
import { findGroup } from '#/store/groups.ts'
import { pageOf } from '#/store/pagination.ts'
import type { User } from '#/store/users.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'
import { StarterFilesError } from '#/templates/starter-files/file-set.ts'
import type { FileSources } from '#/templates/starter-files/file-sources.ts'
import { DockerfileProblem } from './dockerfile.ts'
import { problemOfBases, type EnvironmentRights } from './environment-rights.ts'
import { readDirectSource, readSource, type ReadSource } from './environment-source.ts'
import type { EnvironmentTrials, OwnTrial } from './environment-trials.ts'
import { changesOf } from './source-changes.ts'
import type { VersionBuilds } from './version-builds.ts'

/** Max environments of an installation: each has versions, and images in the engine. */
const maxEnvironments = 1_000

/** An environment as its administrators and managers see it. */
export interface EnvironmentView extends StoredEnvironment {
  /** Types whose templates name it, in their order. */
  readonly types: readonly string[]
  readonly group: string | null
  /** What the person who asks tries of it. */
  readonly trial: OwnTrial | undefined
  /** Newest first. */
  readonly versions: readonly VersionView[]
}

export interface VersionView extends StoredVersion {
  /** What of its source is another than that of the version before; null when none is kept. */
  readonly changes: readonly string[] | null
}

type TemplateRollout = Awaited<ReturnType<Admin['templates']['list']>>[number]
type UpdateMode = Parameters<Admin['templates']['update']>[2]
type UpdateCounts = Awaited<ReturnType<Admin['templates']['update']>>

/** A container of an older version, with its type. */
export type OlderOfType = TemplateRollout['older'][number] & { readonly type: string }

/** What a source comes to, before it is built. */
export interface CheckedSource {
  /** That it reads. */
  readonly images: readonly string[]
  readonly dockerfile: string
  /** Files of a repository that say what is built. */
  readonly recognised: readonly string[]
}

/** Time for which a request waits for a repository that is only looked at, in ms. */
const checkTimeout = 60_000
/** Max repositories that are looked at for checks at the same time, for one person and in all: each is fetched, and takes disk. */
const maxChecks = { ofKey: 2, ofAll: 4 }

export interface EnvironmentAdministrationParts {
  readonly database: Database
  /** Fetches repositories. */
  readonly sources: Pick<FileSources, 'load'>
  readonly rights: EnvironmentRights
  readonly groups: Pick<GroupDirectory, 'find'>
  /** Undefined while environments are off. */
  readonly versions: VersionBuilds | undefined
  readonly trials: EnvironmentTrials
  /** Who runs an older version, and what is done about it. */
  readonly rollout: Pick<Admin['templates'], 'list' | 'update'>
  /** Called when another version counts for launches, before the request is answered. */
  readonly onPublished: () => Promise<void>
}

/** What administrators, and managers for their groups, do with environments. Each use case checks the rights itself. */
export class EnvironmentAdministration {
  readonly #parts: EnvironmentAdministrationParts
  readonly #checks = new KeyedLimit<number | null>(maxChecks)

  constructor(parts: EnvironmentAdministrationParts) {
    this.#parts = parts
  }

  /** A page by id. @throws {Refusal} 404 · 403 */
  async list(
    actor: Actor,
    page: { readonly limit: number; readonly after: number },
  ): Promise<{ readonly environments: readonly EnvironmentView[]; readonly next: number | null }> {
    const { database, rights } = this.#parts
    const groups = await rights.visibleGroups(database.db, actor)
    const found = await listEnvironments(database.db, { ...page, limit: page.limit + 1 }, groups)
    const { rows, next } = pageOf(found, page.limit, ({ id }) => id)
    return { environments: await this.#viewsOf(actor, rows), next }
  }

  /** @throws {Refusal} 404 · 403 */
  async read(actor: Actor, name: string): Promise<EnvironmentView> {
    return this.#viewOf(actor, (await this.#require(this.#parts.database.db, actor, name)).environment)
  }

  /** @throws {Refusal} 404 · 403 · 400 a source that is refused · 409 the name is taken */
  async create(actor: Actor, fields: EnvironmentFields, now: Date): Promise<EnvironmentView> {
    const { database, rights } = this.#parts
    const made = await database.transaction(async (tx) => {
      await database.lock(tx, 'environments')
      const role = await rights.roleOf(tx, actor)
      if (role === 'manager' && fields.groupId === null) throw refusals.badRequest(message('environments.needsGroup'))
      await this.#requireGroup(tx, fields.groupId)
      await rights.require(tx, actor, fields.groupId)
      await this.#checkSource(tx, role, fields.source, fields.groupId)
      // A template may name it before it exists.
      await rights.requireOwnTypes(tx, role, fields.groupId, fields.name)
      if ((await countEnvironments(tx)) >= maxEnvironments)
        throw refusals.conflict(message('environments.tooMany', { max: maxEnvironments }))
      const environment = await insertEnvironment(tx, fields, now)
      if (!environment) throw refusals.conflict(message('environments.nameTaken'))
      const detail = auditedFields(environment)
      await this.#note(tx, { at: now, actor, action: 'environment.create', name: environment.name, detail })
      return environment
    })
    return this.#viewOf(actor, made)
  }

  /** What is left out stays as it is; a version that is being built keeps its source. @throws {Refusal} 404 · 403 · 400 */
  async change(
    actor: Actor,
    name: string,
    changes: Partial<Omit<EnvironmentFields, 'name'>>,
    now: Date,
  ): Promise<EnvironmentView> {
    const { database } = this.#parts
    const changed = await database.transaction(async (tx) => {
      const { environment: before, role } = await this.#require(tx, actor, name)
      const after = { ...before, ...changes }
      if (after.groupId !== before.groupId) {
        if (role === 'manager') throw refusals.environmentOfOthers(message('environments.noChangeOfGroup'))
        await this.#requireGroup(tx, after.groupId)
      }
      if (changes.source) await this.#checkSource(tx, role, changes.source, after.groupId)
      await updateEnvironment(tx, before.id, after)
      const detail = auditedFields(after)
      await this.#note(tx, { at: now, actor, action: 'environment.change', name, detail })
      return after
    })
    return this.#viewOf(actor, changed)
  }

  /** Its images go when no container uses them. @throws {Refusal} 404 · 403 · 409 while a template uses it */
  async remove(actor: Actor, name: string, now: Date): Promise<void> {
    const { database, rights, versions } = this.#parts
    const { environment } = await this.#require(database.db, actor, name)
    this.#refuseWhileUsed(rights, name)
    for (const { id, state } of await listVersions(database.db, [environment.id]))
      if (state === 'waiting' || state === 'building') await versions?.cancel(id, message('environments.wasCancelled'))
    await database.transaction(async (tx) => {
      const { environment: found } = await this.#require(tx, actor, name)
      this.#refuseWhileUsed(rights, name)
      await deleteEnvironment(tx, found.id)
      await this.#note(tx, { at: now, actor, action: 'environment.delete', name, detail: auditedFields(found) })
    })
    versions?.requestSweep()
  }

  /**
   * Begins to build the next version, or lets it wait for its turn.
   * @returns its number @throws {Refusal} 404 · 403 · 400 a source that is refused by now · 409 one is being built
   */
  async build(actor: Actor, name: string, now: Date): Promise<number> {
    const { database, versions } = this.#parts
    const { environment, version, allowed } = await database.transaction(async (tx) => {
      await database.lock(tx, 'environments')
      const { environment, role } = await this.#require(tx, actor, name)
      const { allowed } = await this.#checkSource(tx, role, environment.source, environment.groupId)
      const built = await listVersions(tx, [environment.id])
      if (built.some(({ state }) => state === 'waiting' || state === 'building'))
        throw refusals.conflict(message('environments.building'))
      const version = await insertVersion(tx, environment, now)
      const detail = { version: version.version, source: environment.source }
      await this.#note(tx, { at: now, actor, action: 'environment.build', name, detail })
      return { environment, version, allowed }
    })
    crashPoint('build.after-store')
    versions?.begin(environment, version, allowed)
    return version.version
  }

  /** @throws {Refusal} 404 · 403 · 409 it is not being built */
  async cancel(actor: Actor, name: string, number: number, now: Date): Promise<EnvironmentView> {
    const { database, versions } = this.#parts
    const { environment } = await this.#require(database.db, actor, name)
    const version = await this.#requireVersion(database.db, environment, number)
    const reason = message('environments.wasCancelled')
    if (!(await versions?.cancel(version.id, reason))) throw refusals.conflict(message('environments.notBuilding'))
    await database.transaction((tx) =>
      this.#note(tx, { at: now, actor, action: 'environment.cancel', name, detail: { version: number } }),
    )
    return this.#viewOf(actor, environment)
  }

  /** What launches from now on, an older version just as well. @throws {Refusal} 404 · 403 · 409 it is not ready */
  async publish(actor: Actor, name: string, number: number, now: Date): Promise<EnvironmentView> {
    const { database, rights, onPublished } = this.#parts
    const published = await database.transaction(async (tx) => {
      await database.lock(tx, 'environments')
      const { environment, role } = await this.#require(tx, actor, name)
      await rights.requireOwnTypes(tx, role, environment.groupId, name)
      const { state } = await this.#requireVersion(tx, environment, number)
      if (state !== 'ready') throw refusals.conflict(message('environments.notReady'))
      await setPublished(tx, environment.id, number)
      const [before, after] = [{ published: environment.published }, { published: number }]
      await this.#note(tx, { at: now, actor, action: 'environment.publish', name, before, after })
      return { ...environment, published: number }
    })
    crashPoint('build.after-publish')
    await onPublished()
    return this.#viewOf(actor, published)
  }

  /**
   * Launches a version in a container of the person's own, published or not; see `EnvironmentTrials`.
   * @throws {Refusal} 404 · 403 as `publish` · 409 it is not ready, or no template names the environment · as `Launch.launch`
   */
  async try(actor: Actor, user: User, name: string, number: number, now: Date) {
    const { database, rights, trials } = this.#parts
    const { environment, role } = await this.#require(database.db, actor, name)
    await rights.requireOwnTypes(database.db, role, environment.groupId, name)
    const { state } = await this.#requireVersion(database.db, environment, number)
    if (state !== 'ready') throw refusals.conflict(message('environments.notReadyToTry'))
    return trials.begin(user, name, number, actor, now)
  }

  /** @throws {Refusal} 404 · 403 · 409 the person tries no version of it */
  async endTrial(actor: Actor, name: string): Promise<void> {
    const { database, trials } = this.#parts
    await this.#require(database.db, actor, name)
    if (actor.id === null || !trials.of(actor.id, name)) throw refusals.conflict(message('environments.noTrial'))
    await trials.end(actor.id)
  }

  /** Containers of the types of an environment that run an older version. @throws {Refusal} 404 · 403 {RuntimeError} */
  async older(actor: Actor, name: string): Promise<OlderOfType[]> {
    const types = await this.#ownTypes(actor, name)
    const templates = types.length === 0 ? [] : await this.#parts.rollout.list()
    return templates.flatMap(({ type, older }) =>
      types.includes(type) ? older.map((each) => ({ ...each, type })) : [],
    )
  }

  /**
   * Brings those containers up to date, type by type; see `TemplateAdministration.update`.
   * @throws {Refusal} 404 · 403 {RuntimeError}
   */
  async update(actor: Actor, name: string, mode: UpdateMode, now: Date): Promise<UpdateCounts> {
    const sum = { count: 0, left: 0 }
    for (const type of await this.#ownTypes(actor, name)) {
      const { count, left } = await this.#parts.rollout.update(actor, type, mode, now)
      sum.count += count
      sum.left += left
    }
    return sum
  }

  /** Output of a build as text: what there is, and what comes while it is built. @throws {Refusal} 404 · 403 */
  async log(actor: Actor, name: string, number: number): Promise<Readable> {
    const { database, versions } = this.#parts
    const { environment } = await this.#require(database.db, actor, name)
    const { id } = await this.#requireVersion(database.db, environment, number)
    return versions?.logOf(id) ?? Readable.from([(await readLog(database.db, id)) ?? ''])
  }

  /** Says what a source comes to; a repository is fetched for it. @throws {Refusal} 404 · 403 · 400 · 409 too many at once */
  async check(actor: Actor, source: EnvironmentSource, groupId: number | null): Promise<CheckedSource> {
    const { database, rights, sources } = this.#parts
    const role = await rights.roleOf(database.db, actor)
    if (role === 'manager') await rights.require(database.db, actor, groupId)
    const { read: direct, allowed } = await this.#checkSource(database.db, role, source, groupId)
    const isAnonymous = role === 'manager'
    const fetch = () => readSource(source, sources, AbortSignal.timeout(checkTimeout), isAnonymous)
    const { plan, dockerfile, recognised, files } = direct ?? (await this.#whileFew(actor, () => this.#fetch(fetch)))
    await files?.release()
    if (!direct) this.#refuseOtherBases(plan, allowed)
    return { images: plan.images, dockerfile, recognised }
  }

  /** @throws {Refusal} 409 */
  async #whileFew<T>({ id }: Actor, work: () => Promise<T>): Promise<T> {
    const max = this.#checks.isFullForAll ? maxChecks.ofAll : maxChecks.ofKey
    const leave = this.#checks.enter(id)
    if (!leave) throw refusals.conflict(message('environments.tooManyChecks', { max }))
    return work().finally(leave)
  }

  /**
   * Refuses a source before it is stored or built; what a repository brings is looked at when it is fetched.
   * @returns what it comes to, undefined for a repository, and `EnvironmentRights.basesFor` @throws {Refusal} 400
   */
  async #checkSource(
    db: Db,
    role: 'administrator' | 'manager',
    source: EnvironmentSource,
    groupId: number | null,
  ): Promise<{ readonly read: ReadSource | undefined; readonly allowed: readonly string[] | null }> {
    const { rights } = this.#parts
    rights.requireGitHost(role, source)
    const read = await this.#fetch(async () => ('git' in source ? undefined : readDirectSource(source)))
    const allowed = await rights.basesFor(db, role, groupId)
    if (read) this.#refuseOtherBases(read.plan, allowed)
    return { read, allowed }
  }

  #refuseOtherBases({ images }: ReadSource['plan'], allowed: readonly string[] | null): void {
    const problem = problemOfBases(images, allowed)
    if (problem) throw refusals.badRequest(problem)
  }

  /** What a source has wrong is the author's to mend. @throws {Refusal} 400 */
  async #fetch<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof DockerfileProblem) throw refusals.badRequest(error.sentence)
      if (error instanceof StarterFilesError || (error as Error).name === 'TimeoutError')
        throw refusals.badRequest(message('environments.gitFailed', { why: (error as Error).message.slice(0, 2_000) }))
      throw error
    }
  }

  async #require(db: Db, actor: Actor, name: string) {
    const { rights } = this.#parts
    await rights.roleOf(db, actor)
    const environment = await findEnvironment(db, name)
    if (!environment) throw refusals.environmentNotFound('environment')
    return { environment, role: await rights.require(db, actor, environment.groupId) }
  }

  /** Types of an environment whose containers the actor may replace: those for which they may publish. */
  async #ownTypes(actor: Actor, name: string): Promise<string[]> {
    const { database, rights } = this.#parts
    const { environment, role } = await this.#require(database.db, actor, name)
    await rights.requireOwnTypes(database.db, role, environment.groupId, name)
    return rights.usersOf(name).map(({ type }) => type)
  }

  async #requireVersion(db: Db, { id }: StoredEnvironment, number: number): Promise<StoredVersion> {
    const version = await findVersion(db, id, number)
    if (!version) throw refusals.environmentNotFound('version')
    return version
  }

  async #requireGroup(db: Db, groupId: number | null): Promise<void> {
    if (groupId !== null && !(await findGroup(db, groupId))) throw refusals.groupNotFound('group')
  }

  #refuseWhileUsed(rights: EnvironmentRights, name: string): void {
    const users = rights.usersOf(name).map(({ type }) => type)
    if (users.length > 0)
      throw refusals.conflict(message('environments.inUse', { types: list('comma', users.slice(0, 20)) }))
  }

  async #viewOf(actor: Actor, environment: StoredEnvironment): Promise<EnvironmentView> {
    const [view] = await this.#viewsOf(actor, [environment])
    if (!view) throw refusals.environmentNotFound('environment')
    return view
  }

  async #viewsOf(actor: Actor, environments: readonly StoredEnvironment[]): Promise<EnvironmentView[]> {
    const { database, rights, groups, trials } = this.#parts
    const versions = await listVersions(
      database.db,
      environments.map(({ id }) => id),
    )
    return environments.map((each) => ({
      ...each,
      types: rights.usersOf(each.name).map(({ type }) => type),
      group: each.groupId === null ? null : (groups.find([each.groupId])[0]?.name ?? null),
      trial: trials.of(actor.id, each.name),
      versions: withChanges(versions.filter(({ environmentId }) => environmentId === each.id)),
    }))
  }

  async #note(
    tx: Tx,
    { name, ...entry }: Omit<Parameters<typeof insertAuditEntries>[1][number], 'target'> & { readonly name: string },
  ): Promise<void> {
    await insertAuditEntries(tx, [{ ...entry, target: `environment:${name}` }])
  }
}

/** @param versions of one environment, newest first */
const withChanges = (versions: readonly StoredVersion[]): VersionView[] =>
  versions.map((each, at) => {
    // Of one that failed nothing was launched, so what is another than in it says nothing.
    const older = versions.slice(at + 1)
    const before = older.find(({ state }) => state === 'ready') ?? older[0]
    return { ...each, changes: before ? changesOf(before.source, each.source) : null }
  })

/** Fields of an environment for the audit log, named as in the API. */
const auditedFields = ({ description, source, groupId }: EnvironmentFields) => ({
  description,
  source,
  group_id: groupId,
})
