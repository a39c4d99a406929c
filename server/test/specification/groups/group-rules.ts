/** Groups of each type; a type without any is for all users. */
export const typeGroups: Readonly<Record<string, readonly string[]>> = { open: [], one: ['g1'], two: ['g2', 'g3'] }
export const types = Object.keys(typeGroups)

/** A group as the rules see it. */
export interface Modelled {
  readonly id: number
  readonly source: string
  types: readonly string[] | null
  running: number | null
  memory: number | null
  isOver: boolean
  /** By id of the user. */
  readonly members: Map<number, { role: 'member' | 'manager'; source: string }>
}

/** Groups by name. */
export type GroupModel = ReadonlyMap<string, Modelled>

/** A group without members, limits or end. */
export const newModelled = (id: number, source: string): Modelled => ({
  id,
  source,
  types: null,
  running: null,
  memory: null,
  isOver: false,
  members: new Map(),
})

/** What a launch is answered with, in the words of decision 059. @param running types that this user runs */
export function expected(
  model: GroupModel,
  user: { readonly id: number; readonly isAdmin: boolean },
  type: string,
  running: ReadonlySet<string>,
): string {
  const own = [...model].filter(([, { members: all }]) => all.has(user.id))
  const named = typeGroups[type] ?? []
  if (named.length > 0 && !user.isAdmin && !own.some(([name]) => named.includes(name))) return '403 type'
  const acts = ({ types: some }: Modelled, each = type) => some === null || some.includes(each)
  const isKept = own.some(([name, group]) => !group.isOver && (group.types?.includes(type) || named.includes(name)))
  if (!isKept && own.some(([, group]) => group.isOver && acts(group))) return '403 expired'
  if (running.has(type)) return '200'
  for (const [, group] of own) {
    if (!acts(group)) continue
    const count = 1 + [...running].filter((each) => acts(group, each)).length
    if (group.running !== null && count > group.running) return '409 running'
    if (group.memory !== null && count * 1024 ** 3 > group.memory) return '409 memory'
  }
  return '200'
}

/** Flows of the launch queue, in the words of decision 059. */
export function flowsOf(model: GroupModel, userId: number, type: string): string[] {
  const own = [...model].filter(([, group]) => !group.isOver && group.members.has(userId))
  const naming = own.filter(([name, group]) => group.types?.includes(type) || typeGroups[type]?.includes(name))
  const found = naming.length > 0 ? naming : own.filter(([, group]) => group.types === null)
  return found.map(([, { id }]) => `group:${id}`).sort()
}
