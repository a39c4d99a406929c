import { nameOf, needOf, needs, type MemberView } from './member-view.ts'

/** Ids of members as users, in the order of their rows. */
export type ClassOrder = readonly number[]

const byName = new Intl.Collator('en', { numeric: true })

/** Who needs the teacher comes first, by urgency; then managers, then the others, each by name. */
export function orderOf(views: readonly MemberView[]): ClassOrder {
  const rankOf = (view: MemberView) => {
    const need = needOf(view)
    return need === undefined ? needs.length : needs.indexOf(need)
  }
  return views
    .map((view) => ({ rank: rankOf(view), isMember: view.member.role === 'member', member: view.member }))
    .sort(
      (one, other) =>
        one.rank - other.rank ||
        Number(one.isMember) - Number(other.isMember) ||
        byName.compare(nameOf(one.member), nameOf(other.member)),
    )
    .map(({ member }) => member.user.id)
}

/**
 * The order of before for members that are present now: rows do not move while states change. Who came since follows at
 * the end.
 */
export function keptOrder(before: ClassOrder, views: readonly MemberView[]): ClassOrder {
  const present = new Set(views.map(({ member }) => member.user.id))
  const known = new Set(before)
  if (before.length === present.size && before.every((id) => present.has(id))) return before
  const added = orderOf(views.filter(({ member }) => !known.has(member.user.id)))
  return [...before.filter((id) => present.has(id)), ...added]
}

/** How many members need the teacher and stand below one who does not. */
export function countBelow(order: ClassOrder, views: readonly MemberView[]): number {
  const needing = new Set(views.flatMap((view) => (needOf(view) === undefined ? [] : [view.member.user.id])))
  const first = order.findIndex((id) => !needing.has(id))
  return first === -1 ? 0 : order.slice(first).filter((id) => needing.has(id)).length
}
