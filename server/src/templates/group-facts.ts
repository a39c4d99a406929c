import type { GroupFields } from '#/store/groups.ts'

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
export function changedFields(before: GroupFields, after: GroupFields): { before: Facts; after: Facts } | undefined {
  const [old, now]: [Facts, Facts] = [auditedFields(before), auditedFields(after)]
  const names = Object.keys(old).filter((name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]))
  if (names.length === 0) return undefined
  const only = (facts: Facts) => Object.fromEntries(names.map((name) => [name, facts[name]]))
  return { before: only(old), after: only(now) }
}
