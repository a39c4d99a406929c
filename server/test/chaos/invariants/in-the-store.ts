import { headFromText, hashLine, noEntries } from '#/store/audit-chain.ts'
import type { Snapshot } from '../world/store-view.ts'
import { linksPerHour, type World } from '../world/world.ts'

/** What has to be true of the store at every moment. Each returns what is wrong, in words. */

/** Whatever was answered with 200 is there. */
export const isDurable = (world: World, stored: Snapshot) => world.ledger.broken(stored)

/** Exactly one first administrator, and none who became one by a fault. */
export function hasOneFirstAdmin({ people }: World, { users }: Snapshot): string[] {
  const admins = users.filter(({ is_admin }) => is_admin === 1).map(({ email }) => email)
  const expected = users.length === 0 ? [] : [people.first.email]
  const found = admins.filter((email) => email !== people.second.email)
  return found.join() === expected.join() ? [] : [`administrators are ${admins.join() || 'none'}`]
}

/** No more links to an address than it may have in an hour; a run is shorter than that. */
export function keepsLinkLimit({ ledger }: World, { requests }: Snapshot): string[] {
  const stored = new Map<string, number>()
  for (const { email } of requests) stored.set(email, (stored.get(email) ?? 0) + 1)
  const over = (counts: ReadonlyMap<string, number>, what: string) =>
    [...counts]
      .filter(([, count]) => count > linksPerHour)
      .map(([email, count]) => `${count} links ${what} for ${email}`)
  return [...over(stored, 'counted'), ...over(ledger.granted, 'granted')]
}

/** A container belongs to one record, that of its owner and type. */
export function sharesNoContainer(_world: World, { containers }: Snapshot): string[] {
  const ids = containers.flatMap(({ container_id }) => (container_id === null ? [] : [container_id]))
  return ids.length === new Set(ids).size ? [] : ['two records name the same container']
}

/** By what a container is blocked: by itself, else with its owner or by groups. */
type Sources = Set<string>

/**
 * A block by itself takes over any other one, that of a group the one of an owner, and several groups may have blocked it: each is
 * a change with a row. @returns whether it is a change
 */
function addSource(sources: Sources, by: string): boolean {
  const isChange = by === 'owner' ? sources.size === 0 : !sources.has(by) && !sources.has('itself')
  if (isChange && by === 'itself') sources.clear()
  if (isChange) sources.delete('owner')
  if (isChange) sources.add(by)
  return isChange
}

/**
 * Replayed from the beginning, the audit log leads to the very blocks that are stored, and none of its rows repeats what
 * was so already: every change has exactly one row, also the one whose answer got lost.
 */
export function hasAuditedEverything(_world: World, { audit, users, containers }: Snapshot): string[] {
  const wrong: string[] = []
  const blocked = new Map<string, Sources>()
  const change = (target: string, isBlock: boolean, action: string, by = 'itself') => {
    if (ids.isUnknown(target)) return
    const sources: Sources = blocked.get(target) ?? new Set()
    const isChange = isBlock ? addSource(sources, by) : isReleased(sources, by)
    if (!isChange) wrong.push(`the audit log says ${action} of ${target} once too often`)
    if (isBlock) blocked.set(target, sources)
    else blocked.delete(target)
  }
  /** A group releases what something else keeps blocked: another group, its owner or an administrator. */
  const keep = (target: string, by: string, action: string) => {
    if (ids.isUnknown(target)) return
    const sources = blocked.get(target)
    if (!sources?.delete(by)) wrong.push(`the audit log says ${action} of ${target}, which it has not blocked`)
    if (sources?.size === 0) sources.add('owner')
  }
  const deleted = new Set<string>()
  const ids = new RecordIds(audit, containers)
  for (const [index, { action, target, detail }] of audit.entries()) {
    const [, verb] = action.split('.')
    if (verb === 'delete') {
      if (deleted.has(target)) wrong.push(`the audit log says ${action} of ${target} twice`)
      deleted.add(target)
    }
    if (verb !== 'block' && verb !== 'unblock') continue
    const idsIn = (listed: readonly (number | Owned)[]) =>
      listed.flatMap((each) => (typeof each === 'number' ? each : (ids.at(index, each) ?? [])))
    const cascade = idsIn(cascadeOf(detail))
    if (target.startsWith('group:')) {
      for (const id of cascade) change(`container:${id}`, verb === 'block', action, target)
      for (const id of idsIn(keptOf(detail))) keep(`container:${id}`, target, action)
      continue
    }
    // A blocked user is blocked again for the sake of what was released meanwhile.
    if (cascade.length === 0 || blocked.has(target) !== (verb === 'block')) change(target, verb === 'block', action)
    for (const id of cascade) change(`container:${id}`, verb === 'block', `${action} (cascade)`, 'owner')
  }
  for (const [kind, rows] of [
    ['user', users],
    ['container', containers],
  ] as const)
    for (const { id, is_blocked } of rows)
      if (blocked.has(`${kind}:${id}`) !== (is_blocked === 1))
        wrong.push(`${kind} ${id} is ${is_blocked === 1 ? '' : 'not '}blocked, and the audit log says otherwise`)
  return [...wrong, ...missingDeletions({ audit, users, containers } as Snapshot, deleted)]
}

/** An unblock by itself ends every block; that of an owner or a group is one only where it alone was left. */
const isReleased = (sources: Sources, by: string) =>
  by === 'itself' ? sources.size > 0 : sources.size === 1 && sources.has(by)

type Owned = { readonly user: number; readonly type: string }

const cascadeOf = (detail: string) => (JSON.parse(detail) as { containers?: (number | Owned)[] }).containers ?? []

/** What an unblock of a group has left blocked by something else. */
const keptOf = (detail: string) => (JSON.parse(detail) as { still_blocked?: Owned[] }).still_blocked ?? []

/** Ids of records that entries about groups name by user and type, which later records may have, too. */
class RecordIds {
  /** Of each user and type, ascending, with the index of the entry that says of the deletion. */
  readonly #byOwned = new Map<string, { readonly id: number; readonly deletedAt: number }[]>()
  /** Records that went with their user, whom an entry about a group names: of these no entry says the type. */
  readonly #unknown = new Set<string>()

  constructor(audit: Snapshot['audit'], containers: Snapshot['containers']) {
    const inGroups = new Set<number>()
    for (const [index, { action, target, detail }] of audit.entries()) {
      if (action === 'container.delete') this.#add(Number(target.split(':')[1]), JSON.parse(detail) as Owned, index)
      if (target.startsWith('group:'))
        for (const each of [...cascadeOf(detail), ...keptOf(detail)])
          if (typeof each === 'object') inGroups.add(each.user)
    }
    for (const { action, target, detail } of audit)
      if (action === 'user.delete' && inGroups.has(Number(target.split(':')[1])))
        for (const id of cascadeOf(detail)) this.#unknown.add(`container:${String(id)}`)
    for (const { id, user_id: user, container_type: type } of containers) this.#add(id, { user, type }, Infinity)
  }

  isUnknown(target: string): boolean {
    return this.#unknown.has(target)
  }

  /** The record of this user and type when the entry with this index was written; undefined: gone with its user. */
  at(index: number, { user, type }: Owned): number | undefined {
    return this.#byOwned.get(`${user}/${type}`)?.find(({ deletedAt }) => deletedAt > index)?.id
  }

  #add(id: number, { user, type }: Owned, deletedAt: number): void {
    const key = `${user}/${type}`
    const all = [...(this.#byOwned.get(key) ?? []), { id, deletedAt }]
    this.#byOwned.set(
      key,
      all.toSorted((one, other) => one.id - other.id),
    )
  }
}

/** Every line of the audit log is chained to the one before it, and the head beside it counts them all. */
export function hasWholeAuditLog(_world: World, { audit, auditHead }: Snapshot): string[] {
  const wrong: string[] = []
  let last = noEntries
  for (const line of audit) {
    const expected = { entries: last.entries + 1, hash: hashLine(last.hash, line) }
    if (line.position !== expected.entries || line.hash !== expected.hash)
      wrong.push(`line ${line.position} does not follow line ${last.entries}`)
    last = { entries: line.position, hash: line.hash }
  }
  const head = headFromText(auditHead[0]?.value)
  if (head.entries !== last.entries || head.hash !== last.hash)
    wrong.push(`the head counts ${head.entries} lines, and there are ${last.entries}`)
  return wrong
}

/** Ids are never given twice: one below the highest that is missing was deleted by an administrator, or taken back by a failed sign-up. */
function missingDeletions({ users, containers }: Snapshot, deleted: ReadonlySet<string>): string[] {
  const isThere = new Set([...users.map(({ id }) => `user:${id}`), ...containers.map(({ id }) => `container:${id}`)])
  return [...deleted].filter((target) => isThere.has(target)).map((target) => `${target} was deleted and is there`)
}
