import { formatBytes, message } from '@berth/texts/localized-message.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
import { listGroupIdsOf, listMembershipsOf } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import type { User } from '#/store/users.ts'
import { covers, isExpired, type GroupDirectory } from './group-directory.ts'
import type { Template, Templates } from './template.ts'

type Launcher = Pick<User, 'id' | 'isAdmin'>

/** What groups say of launches: who may launch what, and how much of it; see decision 059. */
export class LaunchRules {
  readonly directory: GroupDirectory
  readonly #db: Db
  readonly #templates: Templates

  constructor(db: Db, directory: GroupDirectory, templates: Templates) {
    this.#db = db
    this.directory = directory
    this.#templates = templates
  }

  /** Templates that this user sees, in the configured order; without a restricted one it asks the store nothing. */
  async visible(user: Launcher): Promise<readonly Template[]> {
    const all = this.#templates.all()
    if (user.isAdmin || !all.some(isRestricted)) return all
    const names = new Set((await this.#groupsOf(user.id)).map(({ name }) => name))
    return all.filter((each) => !isRestricted(each) || each.groups.some((name) => names.has(name)))
  }

  /** Why this user may not launch this type; asks the store nothing where no group concerns the type. */
  async refusalFor(user: Launcher, template: Template, now: Date): Promise<Refusal | undefined> {
    const isForMembers = isRestricted(template) && !user.isAdmin
    const mayHaveEnded = this.directory.expired(now).some((group) => covers(group, template.type))
    if (!isForMembers && !mayHaveEnded) return undefined
    const groups = await this.#groupsOf(user.id)
    if (isForMembers && !groups.some(({ name }) => template.groups.includes(name))) return refusals.typeOfGroups()
    const expired = expiredGroup(groups, template.type, template.groups, now)
    return expired && refusals.groupExpired(expired.name)
  }

  /**
   * Names of groups whose end keeps this user from launching these templates, by type; asks the store nothing where none that
   * concerns them has ended.
   */
  async endedFor(userId: number, templates: readonly Template[], now: Date): Promise<ReadonlyMap<string, string>> {
    const ended = this.directory.expired(now)
    if (!templates.some(({ type }) => ended.some((group) => covers(group, type)))) return new Map()
    const groups = await this.#groupsOf(userId)
    const expired = templates.map(
      (each) => [each.type, expiredGroup(groups, each.type, each.groups, now)?.name] as const,
    )
    return new Map(expired.flatMap(([type, name]) => (name === undefined ? [] : [[type, name]])))
  }

  /** Limits of the owner's groups that concern this container; undefined, at once, where no group has any for its type. */
  limitsFor({ userId, type }: ContainerRef): Promise<readonly MemberLimits[]> | undefined {
    return this.directory.limited.some((group) => covers(group, type)) ? this.#limitsOf(userId, type) : undefined
  }

  /**
   * Flows of the launch queue of the owner's groups that concern this container, one of which its launch belongs to; undefined,
   * at once, where no group concerns the type.
   */
  flowsOf({ userId, type }: ContainerRef): Promise<readonly string[]> | undefined {
    const named = this.#templates.get(type)?.groups ?? []
    if (!this.directory.concerns(type, named)) return undefined
    return this.#flowsOf(userId, type, named)
  }

  /** Whether a group limits the size of homes. */
  get hasDiskLimits(): boolean {
    return this.directory.limited.some(({ limits }) => limits.disk !== null)
  }

  /**
   * Folders of the groups of this user that a container of this template has, by name: those of groups that have not ended.
   * It asks the store nothing where the template shows none, or no group has one.
   */
  async foldersFor(userId: number, { groupFolders }: Pick<Template, 'groupFolders'>): Promise<MountedGroupFolder[]> {
    if (groupFolders === null || !this.directory.hasFolders) return []
    const memberships = await listMembershipsOf(this.#db, userId)
    const now = new Date()
    const folders = memberships.flatMap(({ groupId, role }) => {
      const [group] = this.directory.find([groupId])
      if (!group?.folder || isExpired(group, now)) return []
      const { name, members, volume } = group.folder
      return [{ name, volume, isWritable: role === 'manager' || members === 'write' }]
    })
    return folders.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  }

  async #limitsOf(userId: number, type: string): Promise<MemberLimits[]> {
    const groups = await this.#groupsOf(userId)
    return groups
      .filter((group) => covers(group, type))
      .map(({ name, types, limits }) => ({ group: name, types, limits }))
  }

  /** Groups that name the type come before those for every type, such as a school around its courses. */
  async #flowsOf(userId: number, type: string, named: readonly string[]): Promise<string[]> {
    const all = (await this.#groupsOf(userId)).filter((group) => !isExpired(group, new Date()))
    const naming = all.filter(({ name, types }) => types?.includes(type) || named.includes(name))
    const found = naming.length > 0 ? naming : all.filter(({ types }) => types === null)
    return found.map(({ id }) => `group:${id}`)
  }

  async #groupsOf(userId: number): Promise<Group[]> {
    if (this.directory.isEmpty) return []
    return this.directory.find(await listGroupIdsOf(this.#db, userId))
  }
}

/** A folder of a group in a container. */
export interface MountedGroupFolder {
  readonly name: string
  /** The engine's name of it. */
  readonly volume: string
  readonly isWritable: boolean
}

const isRestricted = ({ groups }: Pick<Template, 'groups'>) => groups.length > 0

/**
 * The expired group that takes this type from a member; undefined when there is none, or when another group of theirs
 * that has not expired names the type, or is named by its template.
 * @param groups of the member @param named groups that the template names
 */
export function expiredGroup(
  groups: readonly Group[],
  type: string,
  named: readonly string[],
  now: Date,
): Group | undefined {
  const expired = groups.find((group) => isExpired(group, now) && covers(group, type))
  const hasOther = groups.some(
    (group) => !isExpired(group, now) && (group.types?.includes(type) || named.includes(group.name)),
  )
  return hasOther ? undefined : expired
}

/** Limits of a group for one of its members. */
export interface MemberLimits {
  readonly group: string
  /** Types that they are about; null: every type. */
  readonly types: readonly string[] | null
  /** Memory and disk in bytes; null is no limit. */
  readonly limits: {
    readonly running: number | null
    readonly memory: number | null
    readonly cpus: number | null
    readonly gpus: number | null
    readonly disk: number | null
  }
}

/** What a container of a type takes: bytes, cores and GPUs of its template. */
export interface ResourceNeeds {
  readonly memory: number
  readonly cpus: number
  readonly gpus: number
}

/** What a type takes whose template is not configured any more, although a container of it still runs. */
const nothing: ResourceNeeds = { memory: 0, cpus: 0, gpus: 0 }

/**
 * Why a container of this type does not fit beside the others of its owner: the first limit of a group that leaves no room.
 * @param others types of the owner's other containers that run, are paused or are being launched
 */
export function checkMemberLimits(
  all: readonly MemberLimits[],
  type: string,
  others: readonly string[],
  needsOf: (type: string) => ResourceNeeds | undefined,
): Refusal | undefined {
  for (const { group, types, limits } of all) {
    const counts = (each: string) => types === null || types.includes(each)
    if (!counts(type)) continue
    const refusal = refusalOf(
      group,
      limits,
      [type, ...others.filter(counts)].map((each) => needsOf(each) ?? nothing),
    )
    if (refusal) return refusal
  }
  return undefined
}

/** @param needs of the container itself first */
function refusalOf(
  group: string,
  { running, memory, cpus, gpus }: MemberLimits['limits'],
  needs: readonly ResourceNeeds[],
): Refusal | undefined {
  const [own = nothing] = needs
  const sum = (name: keyof ResourceNeeds) => needs.reduce((all, each) => all + each[name], 0)
  if (running !== null && needs.length > running)
    return refusals.groupLimit('running', group, message('groups.tooManyRunning', { group, max: running }))
  if (memory !== null && sum('memory') > memory) {
    const values = { group, max: formatBytes(memory), needed: formatBytes(own.memory) }
    // Where it has no room of its own, no stop of another one helps.
    const isAlone = own.memory > memory
    const why = isAlone ? message('groups.memoryTooSmall', values) : message('groups.tooMuchMemory', values)
    return refusals.groupLimit('memory', group, why)
  }
  // Sums of fractions: ten times 0.1 is not quite 1.
  if (cpus !== null && sum('cpus') > cpus + 1e-9) {
    const values = { group, max: cpus, needed: own.cpus }
    const isAlone = own.cpus > cpus + 1e-9
    const why = isAlone ? message('groups.cpusTooFew', values) : message('groups.tooManyCpus', values)
    return refusals.groupLimit('cpus', group, why)
  }
  // Those that need none do not add to a sum, which may be above a limit that was lowered.
  if (gpus !== null && own.gpus > 0 && sum('gpus') > gpus) {
    const values = { group, max: gpus, needed: own.gpus }
    const why = own.gpus > gpus ? message('groups.gpusTooFew', values) : message('groups.tooManyGpus', values)
    return refusals.groupLimit('gpus', group, why)
  }
  return undefined
}
