import type { Group, GroupChanges } from '@berth/api/schemas/groups.ts'

const GiB = 1024 ** 3

export const limitNames = ['running', 'memory', 'cpus', 'gpus', 'disk'] as const

/** What was typed into the form of a group. */
interface TypedGroup {
  readonly name: string
  readonly description: string
  /** Null: every type. */
  readonly types: readonly string[] | null
  readonly limits: Readonly<Record<LimitName, string>>
  /** Local time as `datetime-local` has it; empty: never. */
  readonly ends: string
}

type LimitName = keyof Group['limits']
/** A field with something that the server would refuse. */
export interface WrongField {
  readonly wrong: 'name' | LimitName
}

/**
 * The body of a request, or the first field that is wrong.
 * @param before the group that is changed: what stands in its fields is rounded, so a field that was left as it is
 * keeps the exact value
 */
export function readGroup(
  { name, description, types, limits, ends }: TypedGroup,
  before?: Pick<Group, 'limits' | 'expires_at'>,
): (GroupChanges & Pick<Group, 'name' | 'limits'>) | WrongField {
  if (name.trim() === '') return { wrong: 'name' }
  const read = {
    running: numberIn(limits.running),
    memory: bytesIn(limits.memory),
    cpus: numberIn(limits.cpus),
    gpus: numberIn(limits.gpus),
    disk: bytesIn(limits.disk),
  }
  const wrong = limitNames.find((each) => !isLimit(read[each]) || (isCount(each) && !isWhole(read[each])))
  if (wrong) return { wrong }
  return {
    name: name.trim(),
    description: description.trim(),
    types: types && [...types],
    limits: {
      ...read,
      ...(before && limits.memory === fieldOf(before.limits, 'memory') && { memory: before.limits.memory }),
      ...(before && limits.disk === fieldOf(before.limits, 'disk') && { disk: before.limits.disk }),
    },
    expires_at: endOf(ends, before?.expires_at ?? null),
  }
}

/** What differs in a body from the group as it was: an end that a manager set meanwhile, or another's limit, stays. */
export function changesOf(body: GroupChanges & Pick<Group, 'limits'>, before: Group): GroupChanges {
  const limits = Object.entries(body.limits).filter(([name, limit]) => limit !== before.limits[name as LimitName])
  const fields = Object.entries({ ...body, limits: undefined }).filter(
    ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(before[name as keyof Group]),
  )
  return { ...Object.fromEntries(fields), ...(limits.length > 0 && { limits: Object.fromEntries(limits) }) }
}

function endOf(typed: string, before: string | null): string | null {
  if (typed === localTimeOf(before)) return before
  return typed === '' ? null : new Date(typed).toISOString()
}

/** Whether a limit counts things of which there are no parts. */
export const isCount = (name: string) => name === 'running' || name === 'gpus'

/** NaN for what is no number. */
const numberIn = (text: string) => (text.trim() === '' ? null : Number(text.trim().replace(',', '.')))
const bytesIn = (text: string) => {
  const number = numberIn(text)
  return number === null ? null : Math.round(number * GiB)
}
const isLimit = (limit: number | null) => limit === null || limit >= 0
const isWhole = (limit: number | null) => limit === null || Number.isInteger(limit)

/** A limit as it stands in its field. */
export const fieldOf = (limits: Group['limits'] | undefined, name: LimitName): string => {
  const limit = limits?.[name] ?? null
  if (limit === null) return ''
  return String(name === 'memory' || name === 'disk' ? Math.round((limit / GiB) * 1_000) / 1_000 : limit)
}

/** An instant as a field for local time has it. */
export function localTimeOf(instant: string | null): string {
  if (instant === null) return ''
  const date = new Date(instant)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
