/** Addresses in one request. Source: the API, `InvitationsBody`. */
export const addressesAtOnce = 100

/**
 * The addresses in a text that was pasted: one a line, or with commas, semicolons or spaces between; `Ann <ann@x.org>` as
 * mail programs copy it. Each once, whatever its case. What is no address at all stays in the list: the server says so.
 */
export function addressesIn(text: string): readonly string[] {
  // Names in quotes may have commas of their own.
  const pieces = text.replaceAll(/"[^"\n]*"/g, ' ').split(/[\n,;]+/)
  const first = new Map<string, string>()
  for (const address of pieces.flatMap(addressesOfPiece)) {
    const key = address.toLowerCase()
    if (!first.has(key)) first.set(key, address)
  }
  return [...first.values()]
}

function addressesOfPiece(piece: string): string[] {
  const inBrackets = /<([^<>]*)>/.exec(piece)?.[1]
  return (inBrackets ?? piece).split(/\s+/).filter((address) => address !== '')
}

/** The same addresses in parts that one request takes. */
export function inParts(addresses: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(addresses.length / addressesAtOnce)
  return Array.from({ length: count }, (_, at) => addresses.slice(at * addressesAtOnce, (at + 1) * addressesAtOnce))
}
