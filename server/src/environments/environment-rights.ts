import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { EnvironmentSource } from '@berth/api/schemas/environments.ts'
import type { Actor } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { findMembership, listMembershipsOf } from '#/store/group-members.ts'
import { findGroup } from '#/store/groups.ts'
import { findUser } from '#/store/users.ts'
import type { Template, Templates } from '#/templates/template.ts'
import { isNamedBy } from './image-references.ts'

export interface RightsSettings {
  readonly mode: 'off' | 'admins' | 'managers'
  /** Names that managers may build on. With null they build on images of templates that members of the group launch. */
  readonly bases: readonly string[] | null
  /** Hosts of repositories that managers may name. */
  readonly gitHosts: readonly string[]
}

/** Whether an actor administers all environments, or those of groups that they manage. */
type Role = 'administrator' | 'manager'

/** Who may do what with environments, and on which images managers build. */
export class EnvironmentRights {
  readonly #settings: RightsSettings
  readonly #templates: Pick<Templates, 'all'>

  constructor(settings: RightsSettings, templates: Pick<Templates, 'all'>) {
    this.#settings = settings
    this.#templates = templates
  }

  /**
   * Requires that an actor may read or change an environment of a group.
   * @param groupId null: of administrators alone
   * @throws {Refusal} 404 environments are off · 403
   */
  async require(db: Db, actor: Pick<Actor, 'id'>, groupId: number | null): Promise<Role> {
    const role = await this.roleOf(db, actor)
    if (role === 'administrator') return role
    if (groupId === null || actor.id === null) throw refusals.environmentOfOthers(message('environments.notManager'))
    const membership = await findMembership(db, groupId, actor.id)
    if (membership?.role !== 'manager') throw refusals.environmentOfOthers(message('environments.notManager'))
    return role
  }

  /** @throws {Refusal} 404 environments are off · 403 for who has nothing to do with them */
  async roleOf(db: Db, { id }: Pick<Actor, 'id'>): Promise<Role> {
    const { mode } = this.#settings
    if (mode === 'off') throw refusals.environmentNotFound('off')
    // The operator has no account.
    if (id === null) return 'administrator'
    const user = await findUser(db, id)
    if (!user || user.isBlocked) throw refusals.environmentOfOthers(message('environments.forAdministrators'))
    if (user.isAdmin) return 'administrator'
    const isManager = mode === 'managers' && (await this.#managedBy(db, id)).length > 0
    if (!isManager) throw refusals.environmentOfOthers(message('environments.forAdministrators'))
    return 'manager'
  }

  /** Groups whose environments an actor sees; null: all. @throws {Refusal} as `roleOf` */
  async visibleGroups(db: Db, actor: Pick<Actor, 'id'>): Promise<readonly number[] | null> {
    if ((await this.roleOf(db, actor)) === 'administrator' || actor.id === null) return null
    return this.#managedBy(db, actor.id)
  }

  /**
   * Names of the images that a build for a group may read. Null means that it may read any image.
   * @param role of who builds
   */
  async basesFor(db: Db, role: Role, groupId: number | null): Promise<readonly string[] | null> {
    if (role === 'administrator') return null
    const { bases } = this.#settings
    if (bases !== null) return bases
    const group = groupId === null ? undefined : await findGroup(db, groupId)
    const mayLaunch = ({ groups }: Template) =>
      groups.length === 0 || (group !== undefined && groups.includes(group.name))
    const launched = this.#templates.all().filter(mayLaunch)
    return [...new Set(launched.flatMap(({ image }) => (image === '' ? [] : image)))]
  }

  /**
   * A type that others than members of the group launch is not a manager's to change.
   * @param name of the environment @throws {Refusal} 403
   */
  async requireOwnTypes(db: Db, role: Role, groupId: number | null, name: string): Promise<void> {
    if (role === 'administrator') return
    const group = groupId === null ? undefined : await findGroup(db, groupId)
    const isOwn = ({ groups }: Template) => groups.length > 0 && groups.every((each) => each === group?.name)
    const other = this.usersOf(name).find((each) => !isOwn(each))
    if (other) throw refusals.environmentOfOthers(message('environments.typeNotOfGroup', { type: other.type }))
  }

  /**
   * Repositories are fetched by Berth itself, from where a manager may reach nothing otherwise. Git reads a URL otherwise
   * than this program where it has a user or backslashes: `https://allowed\@other/` leads to `other`.
   * @throws {Refusal} 400
   */
  requireGitHost(role: Role, source: EnvironmentSource): void {
    if (role === 'administrator' || !('git' in source)) return
    const host = URL.parse(source.git)?.host.toLowerCase() ?? ''
    const [, written = ''] = /^https?:\/\/([^/]*)/i.exec(source.git) ?? []
    if (!/^[\w.:[\]-]+$/.test(written) || !this.#settings.gitHosts.includes(host))
      throw refusals.badRequest(message('environments.gitHostNotAllowed', { host }))
  }

  usersOf(name: string): Template[] {
    return this.#templates.all().filter(({ environment }) => environment === name)
  }

  async #managedBy(db: Db, userId: number): Promise<number[]> {
    const memberships = await listMembershipsOf(db, userId)
    return memberships.flatMap(({ role, groupId }) => (role === 'manager' ? groupId : []))
  }
}

/**
 * Says why one of these images may not be read; undefined when all may.
 * @param allowed what `EnvironmentRights.basesFor` answers
 */
export function problemOfBases(
  images: readonly string[],
  allowed: readonly string[] | null,
): LocalizedMessage | undefined {
  if (allowed === null) return undefined
  const image = images.find((each) => !isNamedBy(allowed, each))
  if (image === undefined) return undefined
  const names = allowed.length === 0 ? message('environments.noBases') : list('comma', allowed.slice(0, 20))
  return message('environments.baseNotAllowed', { image, allowed: names })
}
