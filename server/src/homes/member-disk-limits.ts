import type { MemberLimits } from '#/templates/launch-rules.ts'
import type { Template, Templates } from '#/templates/template.ts'
import { diskGrace, type HomeBytes } from './disk-limits.ts'

/** A limit of a group that a member's homes have reached; both in bytes. */
export interface FullMemberLimit {
  readonly group: string
  readonly used: number
  readonly limit: number
  /** The type that still starts, so that files can be deleted; undefined when none does. */
  readonly wayIn: Template | undefined
}

/** The limit of a group that keeps a container of this type from being started, by the rules of `DiskLimits`. */
export function fullMemberLimit(
  all: readonly MemberLimits[],
  type: string,
  bytes: HomeBytes,
  templates: Pick<Templates, 'all'>,
): FullMemberLimit | undefined {
  for (const { group, types, limits } of all) {
    const counts = (each: string) => types === null || types.includes(each)
    if (limits.disk === null || !counts(type)) continue
    const counted = new Map([...bytes].filter(([each]) => counts(each)))
    const used = [...counted.values()].reduce((sum, each) => sum + each, 0)
    if (used < limits.disk) continue
    const wayIn = used < diskGrace * limits.disk ? largestOf(counted, templates) : undefined
    if (wayIn?.type !== type) return { group, used, limit: limits.disk, wayIn }
  }
  return undefined
}

/** What each limit of a group that counts this type leaves, in bytes; negative beyond it. */
export function memberRooms(all: readonly MemberLimits[], type: string, bytes: HomeBytes): number[] {
  return all.flatMap(({ types, limits }) => {
    const counts = (each: string) => types === null || types.includes(each)
    if (limits.disk === null || !counts(type)) return []
    return [limits.disk - [...bytes].reduce((sum, [each, size]) => sum + (counts(each) ? size : 0), 0)]
  })
}

/** Whether a disk limit of a group counts homes of both types. */
export const countsTogether = (all: readonly MemberLimits[], one: string, other: string): boolean =>
  all.some(
    ({ types, limits }) => limits.disk !== null && (types === null || (types.includes(one) && types.includes(other))),
  )

/** The type with the most to delete; types without a home, or that are not configured any more, are left out. */
function largestOf(bytes: HomeBytes, templates: Pick<Templates, 'all'>): Template | undefined {
  const withHome = templates.all().filter(({ type, home }) => home !== null && bytes.has(type))
  return withHome.toSorted((one, other) => (bytes.get(other.type) ?? 0) - (bytes.get(one.type) ?? 0))[0]
}
