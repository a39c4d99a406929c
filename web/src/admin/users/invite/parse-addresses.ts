/** Addresses in one request. Source: the API, `InvitationsBody`. */
export const maxAddressesPerRequest = 100

/** What a text with addresses holds. */
export interface FoundAddresses {
  /** Each once, whatever its case, in the order of the text. */
  readonly addresses: readonly string[]
  /** Lines without any address, as they are written; a line of headings is not among them. */
  readonly rejected: readonly string[]
}

/**
 * The addresses in a text that was pasted or read from a file: one a line; with commas, semicolons, tabs or spaces between;
 * `Ann <ann@x.org>` as mail programs copy it; or the rows of a spreadsheet (`name;email;class`), whose other cells are
 * ignored. Whether an address is valid is for the server to say.
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

/** Whatever has an @ is taken for an address; names, classes and numbers beside it have none. */
function addressesOfLine(line: string): string[] {
  // The name in `"Fay, F." <fay@x.org>` is dropped; a quoted cell of a spreadsheet keeps what it holds.
  const unquoted = line.replaceAll(/"([^"]*)"/g, (_, quoted: string) => (quoted.includes('@') ? ` ${quoted} ` : ' '))
  return unquoted.split(/[\s,;<>"]+/).filter((piece) => piece.includes('@'))
}

/** The first row of a spreadsheet names its columns. */
const isHeadings = (line: string) => /mail/i.test(line)

/** The same addresses in parts that one request takes. */
export function inParts(addresses: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(addresses.length / maxAddressesPerRequest)
  return Array.from({ length: count }, (_, at) =>
    addresses.slice(at * maxAddressesPerRequest, (at + 1) * maxAddressesPerRequest),
  )
}
