/** Max addresses of a request. Source: the API, `InvitationsBody`. */
export const maxAddressesPerRequest = 100

/** The addresses found in a text. */
export interface FoundAddresses {
  /** Each once, case-insensitively, in the order of the text. */
  readonly addresses: readonly string[]
  /** Lines without any address, as written, except a header line. */
  readonly rejected: readonly string[]
}

/**
 * Parses addresses from pasted text or a file: one a line; separated by commas, semicolons, tabs or spaces; `Ann
 * <ann@x.org>` as mail programs copy it; or the rows of a spreadsheet (`name;email;class`), whose other cells are
 * ignored. The server decides whether an address is valid.
 */
export function parseAddresses(text: string): FoundAddresses {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '')
  const first = new Map<string, string>()
  const rejected: string[] = []
  for (const [at, line] of lines.entries()) {
    const found = addressesOfLine(line)
    if (found.length === 0 && !(at === 0 && isHeadings(line))) rejected.push(line.trim())
    for (const address of found) if (!first.has(address.toLowerCase())) first.set(address.toLowerCase(), address)
  }
  return { addresses: [...first.values()], rejected }
}

/** Every word with an @ counts as an address; names, classes and numbers have none. */
function addressesOfLine(line: string): string[] {
  // The name in `"Fay, F." <fay@x.org>` is dropped; a quoted cell of a spreadsheet keeps its content.
  const unquoted = line.replaceAll(/"([^"]*)"/g, (_, quoted: string) => (quoted.includes('@') ? ` ${quoted} ` : ' '))
  return unquoted.split(/[\s,;<>"]+/).filter((piece) => piece.includes('@'))
}

/** The header row of a spreadsheet. */
const isHeadings = (line: string) => /mail/i.test(line)

/** The addresses in batches of one request. */
export function addressBatches(addresses: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(addresses.length / maxAddressesPerRequest)
  return Array.from({ length: count }, (_, at) =>
    addresses.slice(at * maxAddressesPerRequest, (at + 1) * maxAddressesPerRequest),
  )
}
