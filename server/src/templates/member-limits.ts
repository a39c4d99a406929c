import { refusals, type Refusal } from '#/refusals/errors.ts'
import { formatBytes } from '@berth/texts/format-bytes.ts'
import { message } from '@berth/texts/localized-message.ts'

/** Limits of a group for one of its members. */
export interface MemberLimits {
  /** Name of the group. */
  readonly group: string
  /** Types that they are about; null: every type. */
  readonly types: readonly string[] | null
  /** Memory and disk in bytes; null is no limit. */
  readonly limits: {
    readonly running: number | null
    readonly memory: number | null
    readonly cpus: number | null
    readonly disk: number | null
  }
}

/** What a container of a type takes: bytes and cores of its template. */
export interface ResourceNeeds {
  readonly memory: number
  readonly cpus: number
}

/** What a type takes whose template is not configured any more, although a container of it still runs. */
const nothing: ResourceNeeds = { memory: 0, cpus: 0 }

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
  { running, memory, cpus }: MemberLimits['limits'],
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
  return undefined
}
