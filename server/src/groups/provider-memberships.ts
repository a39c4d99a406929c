import { onePlainLine } from '@berth/api/schemas/shapes.ts'
import type { Logger } from 'pino'
import type { Database, Tx } from '#/store/database.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { deleteMember, listMembershipsOf, setMember, type Membership } from '#/store/group-members.ts'
import { countGroupsOf, findGroupByName, insertGroup, localSource, type Group } from '#/store/groups.ts'
import type { GroupDirectory } from '#/templates/group-directory.ts'
import { auditedFields } from './group-administration.ts'

/** Max groups of one claim that become memberships; Entra lists 200 at most. */
const maxGroups = 500
/**
 * Max groups that one sign-in makes, and that all sign-ins at one provider make: at some providers people make groups
 * themselves. What is missing is made at later sign-ins.
 */
const [maxMade, maxOfProvider] = [100, 2_000]
/** The names that the API takes. */
const nameForm = new RegExp(`^(?=.*\\S)(?=.{1,100}$)${onePlainLine}$`, 'u')

/** A user who signs in at a provider. */
export interface ProviderMember {
  readonly userId: number
  /** Id of the provider: the source of what it says. */
  readonly provider: string
  /** Address that the request came from, for the audit log. */
  readonly address: string
}

export interface ProviderMembershipsParts {
  readonly database: Database
  readonly directory: Pick<GroupDirectory, 'refresh' | 'find'>
  readonly onChange: () => void
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Memberships by a provider's claim of groups, set at each sign-in. A sign-in changes memberships whose source is this
 * provider, and no others: what was made by hand, or by another provider, stays.
 */
export class ProviderMemberships {
  readonly #parts: ProviderMembershipsParts

  constructor(parts: ProviderMembershipsParts) {
    this.#parts = parts
  }

  /** @param claimed names as the provider sends them; those that cannot be names of groups are left out, and logged */
  async follow(member: ProviderMember, claimed: readonly string[], now: Date): Promise<void> {
    const names = this.#namesIn(member, claimed)
    if (await this.#isUpToDate(member, names)) return
    const { database, directory, onChange } = this.#parts
    const { foreign, missing } = await database.transaction(async (tx) => {
      // Two sign-ins, or an administrator, could make a group of one name at the same moment.
      await database.lock(tx, 'groups')
      return change(tx, member, names, now)
    })
    const { userId, provider } = member
    if (foreign.length > 0)
      this.#parts.log.warn(
        { userId, provider, groups: foreign },
        'groups of another provider have these names; the user joins none of them',
      )
    if (missing > 0)
      this.#parts.log.warn(
        { userId, provider, missing, maxMade, maxOfProvider },
        'a claim names more groups that are missing than are made at once, or of one provider',
      )
    await directory.refresh()
    onChange()
  }

  #namesIn({ userId, provider }: ProviderMember, claimed: readonly string[]): string[] {
    const all = [...new Set(claimed)]
    const names = all.filter((name) => nameForm.test(name) && name.isWellFormed()).slice(0, maxGroups)
    if (names.length < all.length)
      this.#parts.log.warn(
        { userId, provider, omitted: all.length - names.length },
        'some groups of a claim have no valid name, or are too many',
      )
    return names
  }

  /** The usual sign-in changes nothing: one query, and no transaction. */
  async #isUpToDate({ userId, provider }: ProviderMember, names: readonly string[]): Promise<boolean> {
    const { database, directory } = this.#parts
    const memberships = await listMembershipsOf(database.db, userId)
    const nameOf = ({ groupId }: Membership) => directory.find([groupId])[0]?.name ?? ''
    const all = new Set(memberships.map(nameOf))
    const own = memberships.filter(({ source }) => source === provider).map(nameOf)
    return names.every((name) => all.has(name)) && own.every((name) => names.includes(name))
  }
}

interface Changed {
  /** Names of groups whose members are another provider's affair. */
  readonly foreign: string[]
  /** Number of groups that are not there, and were not made. */
  readonly missing: number
}

async function change(tx: Tx, member: ProviderMember, names: readonly string[], now: Date): Promise<Changed> {
  const { userId, provider } = member
  const memberships = await listMembershipsOf(tx, userId)
  const entries: AuditEntry[] = []
  const [kept, foreign] = [new Set<number>(), [] as string[]]
  let [room, missing] = [Math.min(maxMade, maxOfProvider - (await countGroupsOf(tx, provider))), 0]
  for (const name of names) {
    const known = await findGroupByName(tx, name)
    if (!known && room <= 0) {
      missing++
      continue
    }
    if (!known) room--
    const group = known ?? (await makeGroup(tx, member, name, entries, now))
    kept.add(group.id)
    if (group.source !== provider && group.source !== localSource) foreign.push(name)
    else if (!memberships.some(({ groupId }) => groupId === group.id)) {
      await setMember(tx, { groupId: group.id, userId, role: 'member', source: provider, now })
      entries.push(entryOf(member, 'group.add-member', group.id, now))
    }
  }
  for (const { groupId, source } of memberships)
    if (source === provider && !kept.has(groupId)) {
      await deleteMember(tx, groupId, userId)
      entries.push(entryOf(member, 'group.remove-member', groupId, now))
    }
  await insertAuditEntries(tx, entries)
  return { foreign, missing }
}

/** A group of the provider that is not there yet. */
async function makeGroup(
  tx: Tx,
  { provider, address }: ProviderMember,
  name: string,
  entries: AuditEntry[],
  now: Date,
): Promise<Group> {
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const fields = { name, description: '', types: null, limits, expiresAt: null }
  const group = await insertGroup(tx, { ...fields, source: provider, createdAt: now })
  if (!group) throw new Error(`the group of provider ${provider} was made twice within a lock`)
  const detail = { ...auditedFields(group), source: provider }
  const actor = actorOf(provider, address)
  entries.push({ at: now, actor, action: 'group.create', target: `group:${group.id}`, detail })
  return group
}

function entryOf(
  { userId, provider, address }: ProviderMember,
  action: 'group.add-member' | 'group.remove-member',
  groupId: number,
  now: Date,
): AuditEntry {
  const role = { role: 'member', source: provider }
  const facts = action === 'group.add-member' ? { before: {}, after: role } : { before: role }
  const actor = actorOf(provider, address)
  return { at: now, actor, action, target: `group:${groupId}`, detail: { user: userId }, ...facts }
}

/** A provider has no account. */
const actorOf = (provider: string, address: string) => ({ id: null, email: `provider ${provider}`, address })
