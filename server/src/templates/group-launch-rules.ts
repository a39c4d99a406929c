import type { ContainerRef } from '#/store/container-key.ts'
import type { LaunchRules } from './launch-rules.ts'
import type { MemberLimits } from './member-limits.ts'
import type { Template, Templates } from './template.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { listGroupIdsOf } from '#/store/group-members.ts'
import type { Group } from '#/store/groups.ts'
import type { User } from '#/store/users.ts'
import { covers, isExpired, type GroupDirectory } from './group-directory.ts'

type Launcher = Pick<User, 'id' | 'isAdmin'>

/** What groups say of launches; see decision 059. */
export class GroupLaunchRules implements LaunchRules {
  readonly #db: Db
  readonly #directory: GroupDirectory
  readonly #templates: Templates

  constructor(db: Db, directory: GroupDirectory, templates: Templates) {
    this.#db = db
    this.#directory = directory
    this.#templates = templates
  }

  async visible(user: Launcher): Promise<readonly Template[]> {
    const all = this.#templates.all()
    if (user.isAdmin || !all.some(isRestricted)) return all
    const names = new Set((await this.#groupsOf(user.id)).map(({ name }) => name))
    return all.filter((each) => !isRestricted(each) || each.groups.some((name) => names.has(name)))
  }

  async refusalFor(user: Launcher, template: Template, now: Date): Promise<Refusal | undefined> {
    const isForMembers = isRestricted(template) && !user.isAdmin
    const mayHaveEnded = this.#directory.expired(now).some((group) => covers(group, template.type))
    if (!isForMembers && !mayHaveEnded) return undefined
    const groups = await this.#groupsOf(user.id)
    if (isForMembers && !groups.some(({ name }) => template.groups.includes(name))) return refusals.typeOfGroups()
    const expired = expiredGroup(groups, template.type, template.groups, now)
    return expired && refusals.groupExpired(expired.name)
  }

  limitsFor({ userId, type }: ContainerRef): Promise<readonly MemberLimits[]> | undefined {
    return this.#directory.limited.some((group) => covers(group, type)) ? this.#limitsOf(userId, type) : undefined
  }

  flowsOf({ userId, type }: ContainerRef): Promise<readonly string[]> | undefined {
    const named = this.#templates.get(type)?.groups ?? []
    if (!this.#directory.concerns(type, named)) return undefined
    return this.#flowsOf(userId, type, named)
  }

  get hasDiskLimits(): boolean {
    return this.#directory.limited.some(({ limits }) => limits.disk !== null)
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
    if (this.#directory.isEmpty) return []
    return this.#directory.find(await listGroupIdsOf(this.#db, userId))
  }
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
