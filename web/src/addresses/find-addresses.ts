/** An address, or a line without one, as written. */
export interface TextLine {
  /** From 1 on, as editors and spreadsheets count. */
  readonly line: number
  readonly text: string
}

/** The addresses found in a text. */
export interface FoundAddresses {
  /** Each once, case-insensitively, in the order of the text, with the first of its lines. */
  readonly addresses: readonly TextLine[]
  /** Lines without any address, except a header line. */
  readonly rejected: readonly TextLine[]
}

/**
 * Finds addresses in pasted text or a file: one a line; separated by commas, semicolons, tabs or spaces; `Ann <ann@x.org>` as
 * mail programs copy it; or the rows of a spreadsheet (`name;email;class`), whose other cells are ignored. The server decides
 * whether an address is valid.
 */
export function findAddresses(text: string): FoundAddresses {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((each, at) => ({ line: at + 1, text: each.trim() }))
    .filter((each) => each.text !== '')
  const first = new Map<string, TextLine>()
  const rejected: TextLine[] = []
  for (const [at, each] of lines.entries()) {
    const found = addressesOfLine(each.text)
    if (found.length === 0 && !(at === 0 && isHeadings(each.text))) rejected.push(each)
    for (const address of found) {
      const key = address.toLowerCase()
      if (!first.has(key)) first.set(key, { line: each.line, text: address })
    }
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
