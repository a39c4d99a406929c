import type { AddMembersResponse, GroupRole } from '@berth/api/schemas/groups.ts'

/** Who was added or invited by the same dialog before, and as what; addresses in lower case, as the API answers. */
export interface EarlierAddition {
  readonly role: GroupRole
  readonly added: readonly string[]
  readonly invited: readonly string[]
}

/**
 * What is left to do of some addresses: a second press, after a failure or a correction, must not mail all who are
 * invited once more.
 * @param earlier does not count with another role
 * @returns the addresses that are left, and what was done for the others, to which the rest is added
 */
export function withoutEarlier(
  addresses: readonly string[],
  role: GroupRole,
  earlier: EarlierAddition | undefined,
): { readonly left: readonly string[]; readonly done: AddMembersResponse } {
  const wanted = new Set(addresses.map((email) => email.toLowerCase()))
  const isWanted = (email: string) => wanted.has(email)
  const { added, invited } = earlier?.role === role ? earlier : { added: [], invited: [] }
  const done = { added: added.filter(isWanted), invited: invited.filter(isWanted), refused: [] }
  const known = new Set([...done.added, ...done.invited])
  return { left: addresses.filter((email) => !known.has(email.toLowerCase())), done }
}
