import type { AuditEntry } from '@berth/api/schemas/administration/audit.ts'

/** The facts of an entry beside who, what and when, sorted for reading. */
export interface Facts {
  readonly reason: string | undefined
  /** The client: an IP address, or `command line`. */
  readonly address: string | undefined
  readonly changes: readonly { readonly name: string; readonly before: unknown; readonly after: unknown }[]
  readonly others: readonly { readonly name: string; readonly value: unknown }[]
}

export function factsOf({ detail }: Pick<AuditEntry, 'detail'>): Facts {
  const { reason, address, before, after, ...others } = detail
  const [was, is] = [recordIn(before), recordIn(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])]
  return {
    reason: textIn(reason),
    address: textIn(address),
    changes: names.map((name) => ({ name, before: was[name] ?? null, after: is[name] ?? null })),
    others: Object.entries(others).map(([name, value]) => ({ name, value })),
  }
}

const textIn = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

const recordIn = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}

/** The user that an entry is about, and their container, as far as the entry says. */
export interface Subject {
  /** Id of the user. */
  readonly id: number | undefined
  /** Address of the user: the current one, else that of the entry; undefined when neither is known. */
  readonly email: string | undefined
  readonly containerId: number | undefined
  readonly type: string | undefined
}

/** @param names addresses of users by id, as the API returns them with the entries */
export function subjectOf({ target, detail }: AuditEntry, names: Readonly<Record<string, string>>): Subject {
  const [, kind, number] = /^(user|container):(\d+)$/.exec(target) ?? []
  const owner = typeof detail.user === 'number' ? detail.user : undefined
  const id = kind === 'user' ? Number(number) : owner
  return {
    id,
    email: (id === undefined ? undefined : names[id]) ?? textIn(detail.email) ?? textIn(recordIn(detail.before).email),
    containerId: kind === 'container' ? Number(number) : undefined,
    type: textIn(detail.type),
  }
}

/** The system account of the operator's command line; undefined for an administrator. */
export function operatorIn({ actor }: AuditEntry): string | undefined {
  return actor.id === null ? actor.email.replace(/^operator /, '') : undefined
}

/** Number of containers that the action included. */
export const containersIn = ({ detail }: AuditEntry): number =>
  Array.isArray(detail.containers) ? detail.containers.length : 0
