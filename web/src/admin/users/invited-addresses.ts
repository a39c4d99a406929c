import { findAddresses, type FoundAddresses, type TextLine } from '#/addresses/find-addresses.ts'

/** Max addresses of a request. Source: the API, `InvitationsBody`. */
const maxAddressesPerRequest = 100

/** What `FoundAddresses` has, without line numbers. */
interface ParsedAddresses extends Pick<FoundAddresses, 'columns' | 'column'> {
  readonly addresses: readonly string[]
  readonly rejected: readonly string[]
}

/** Finds what `findAddresses` finds. */
export function parseAddresses(text: string, chosen?: string): ParsedAddresses {
  const { addresses, rejected, ...columns } = findAddresses(text, chosen)
  return { addresses: addresses.map(textOf), rejected: rejected.map(textOf), ...columns }
}

const textOf = (each: TextLine) => each.text

/** The addresses in batches of one request. */
export function addressBatches(addresses: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(addresses.length / maxAddressesPerRequest)
  return Array.from({ length: count }, (_, at) =>
    addresses.slice(at * maxAddressesPerRequest, (at + 1) * maxAddressesPerRequest),
  )
}

/**
 * The addresses without a result, in order: what is left to invite after a failure.
 * @param invited results so far, whose addresses the server may write in lower case
 */
export function unansweredOf(
  asked: readonly string[],
  invited: readonly { readonly email: string }[],
): readonly string[] {
  const answered = new Set(invited.map(({ email }) => email.toLowerCase()))
  return asked.filter((email) => !answered.has(email.toLowerCase()))
}
