import { list, message } from '@berth/texts/localized-message.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer } from '#/accounts/administrator-changes.ts'
import { refusals } from '#/refusals/errors.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { dropGroupFolder } from '#/store/group-folders.ts'
import {
  deleteGroup,
  findGroupByName,
  insertGroup,
  listGroups,
  localSource,
  updateGroup,
  type CountedGroup,
  type GroupFields,
  type GroupLimits,
} from '#/store/groups.ts'
import { pageOf } from '#/store/pagination.ts'
import { hasOpenTermEnd } from '#/store/term-ends.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'
import { requireGroup } from './managed-group.ts'

/** What is to be changed of a group; what is left out stays as it is. */
export type GroupChanges = Partial<Omit<GroupFields, 'limits'>> & { readonly limits?: Partial<GroupLimits> }

export interface GroupAdministrationParts {
  readonly database: Database
  readonly directory: Pick<GroupDirectory, 'refresh'>
  /** Configured container types. */
  readonly types: () => readonly string[]
  /** Releases what the block of a group has blocked. */
  readonly release: (actor: Actor, groupId: number, now: Date) => Promise<unknown>
  /** Until when what is in the folder of a deleted group is kept. */
  readonly keepUntil: (now: Date) => Date
}

/** A page of groups; `next` is the id after which the next page begins, null after the last page. */
export interface GroupPage {
  readonly groups: CountedGroup[]
  readonly next: number | null
}

export interface GroupPageRequest {
  readonly limit: number
  readonly after: number
}

/** A page of all groups whose names have `q` in them. @throws {StoreFailure} */
export async function listGroupsPage(db: Db, page: GroupPageRequest, q: string | undefined): Promise<GroupPage> {
  const found = await listGroups(db, { ...page, limit: page.limit + 1 }, q)
  const { rows, next } = pageOf(found, page.limit, ({ id }) => id)
  return { groups: rows, next }
}

const noLimits: GroupLimits = { running: null, memory: null, cpus: null, gpus: null, disk: null }

/** Groups, for administrators. A change counts for launches when the call resolves. */
export class GroupAdministration {
  readonly #parts: GroupAdministrationParts

  constructor(parts: GroupAdministrationParts) {
    this.#parts = parts
  }

  list(page: GroupPageRequest, q: string | undefined): Promise<GroupPage> {
    return listGroupsPage(this.#parts.database.db, page, q)
  }

  /** @throws {Refusal} 404 */
  async find(id: number): Promise<CountedGroup> {
    return requireGroup(this.#parts.database.db, id)
  }

  /** @throws {Refusal} 403 as `administer` · 400 unknown types · 409 the name is taken */
  async create(actor: Actor, wanted: GroupChanges & { readonly name: string }, now: Date): Promise<CountedGroup> {
    const { limits, ...others } = wanted
    const fields = { description: '', types: null, expiresAt: null, ...others, limits: { ...noLimits, ...limits } }
    this.#refuseUnknownTypes(fields.types, [])
    const group = await this.#change(actor, async (tx) => {
      const made = await insertGroup(tx, { ...fields, source: localSource, createdAt: now })
      if (!made) throw refusals.conflict(message('groups.nameTaken'))
      const detail = auditedFields(made)
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.create', target: `group:${made.id}`, detail }])
      return made
    })
    return { ...group, memberCount: 0 }
  }

  /** @throws {Refusal} 403 as `administer` · 404 · 400 unknown types · 409 the name is taken, or a provider's; its term is ending */
  async change(actor: Actor, id: number, changes: GroupChanges, now: Date): Promise<CountedGroup> {
    return this.#change(actor, async (tx) => {
      const before = await requireGroup(tx, id)
      const after = { ...before, ...changes, limits: { ...before.limits, ...changes.limits } }
      this.#refuseUnknownTypes(after.types, before.types ?? [])
      if (after.name !== before.name) await this.#refuseName(tx, before, after.name)
      const changed = changedFields(before, after)
      if (!changed) return before
      await refuseDuringTermEnd(tx, id)
      await updateGroup(tx, id, after)
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.change', target: `group:${id}`, ...changed }])
      return after
    })
  }

  /** What its block has blocked is released first: without the group no user could do that. @throws {Refusal} 403 as `administer` · 404 */
  async remove(actor: Actor, id: number, now: Date): Promise<void> {
    const { database, release } = this.#parts
    await requireGroup(database.db, id)
    await refuseDuringTermEnd(database.db, id)
    await release(actor, id, now)
    await this.#change(actor, async (tx) => {
      const group = await requireGroup(tx, id)
      await refuseDuringTermEnd(tx, id)
      await dropGroupFolder(tx, id, this.#parts.keepUntil(now))
      await deleteGroup(tx, id)
      const detail = { ...auditedFields(group), member_count: group.memberCount }
      await insertAuditEntries(tx, [{ at: now, actor, action: 'group.delete', target: `group:${id}`, detail }])
    })
  }

  /** Serialized with the groups that sign-ins at providers make, so that of two of one name the second is refused. */
  async #change<T>(actor: Actor, work: (tx: Tx) => Promise<T>): Promise<T> {
    const { database, directory } = this.#parts
    const result = await administer(database, actor, async (tx) => {
      await database.lock(tx, 'groups')
      return work(tx)
    })
    await directory.refresh()
    return result
  }

  async #refuseName(tx: Db, { source }: CountedGroup, name: string): Promise<void> {
    if (source !== localSource) throw refusals.conflict(message('groups.providerName', { source }))
    if (await findGroupByName(tx, name)) throw refusals.conflict(message('groups.nameTaken'))
  }

  /** @param kept of a template that is not configured any more, perhaps; they may stay @throws {Refusal} 400 */
  #refuseUnknownTypes(types: readonly string[] | null, kept: readonly string[]): void {
    const known = this.#parts.types()
    const unknown = (types ?? []).filter((type) => !known.includes(type) && !kept.includes(type))
    if (unknown.length > 0)
      throw refusals.badRequest(
        message('groups.unknownTypes', { types: list('comma', unknown), known: list('comma', known) }),
      )
  }
}

/** What an end of term was asked for must not change under it. @throws {Refusal} 409 */
async function refuseDuringTermEnd(db: Db, id: number): Promise<void> {
  if (await hasOpenTermEnd(db, id)) throw refusals.conflict(message('termEnd.underWay'))
}

/** Fields of a group for the audit log, named as in the API. */
export const auditedFields = ({ name, description, types, limits, expiresAt }: GroupFields) => ({
  name,
  description,
  types,
  limits,
  expires_at: expiresAt,
})

type Facts = Readonly<Record<string, unknown>>

/** The fields that differ; undefined when none does. */
function changedFields(before: GroupFields, after: GroupFields): { before: Facts; after: Facts } | undefined {
  const [old, now]: [Facts, Facts] = [auditedFields(before), auditedFields(after)]
  const names = Object.keys(old).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
  if (names.length === 0) return undefined
  const only = (facts: Facts) => Object.fromEntries(names.map((name) => [name, facts[name]]))
  return { before: only(old), after: only(now) }
}
