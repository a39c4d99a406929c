import { addressTableOf, type AddressColumn } from './address-columns.ts'

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
  /** Columns of a table, when several hold addresses; then only those of one count. Otherwise none. */
  readonly columns: readonly AddressColumn[]
  /** Id of the column that counts, or `allColumns`; undefined: one has to be chosen, and until then nothing is found. */
  readonly column: string | undefined
}

/** In place of the id of a column: every address of the text counts. */
export const allColumns = 'all'

/**
 * Finds addresses in pasted text or a file: one a line; separated by commas, semicolons, tabs or spaces; `Ann <ann@x.org>` as
 * mail programs copy it; or the rows of a spreadsheet (`name;email;class`), whose other cells are ignored. The server decides
 * whether an address is valid.
 * @param chosen the column that counts, or `allColumns`; without effect when the text has no such column
 */
export function findAddresses(text: string, chosen?: string): FoundAddresses {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((text, at) => ({ line: at + 1, text }))
    .filter(({ text }) => text.trim() !== '')
  const table = addressTableOf(lines.map(({ text }) => text))
  if (!table) return { ...readLines(lines, addressesOfLine), columns: [], column: undefined }
  const { columns, usual, cellsOf } = table
  if (chosen === allColumns) return { ...readLines(lines, addressesOfLine), columns, column: allColumns }
  const column = columns.find(({ id }) => id === chosen) ?? usual
  if (!column) return { addresses: [], rejected: [], columns, column: undefined }
  const found = readLines(lines, (line) => addressesOfLine(cellsOf(line)[column.index] ?? ''), column.heading !== '')
  return { ...found, columns, column: column.id }
}

/** @param hasHeadings in the first line; undefined: by its words */
function readLines(lines: readonly TextLine[], addressesOf: (line: string) => string[], hasHeadings?: boolean) {
  const first = new Map<string, TextLine>()
  const rejected: TextLine[] = []
  for (const [at, each] of lines.entries()) {
    const found = addressesOf(each.text)
    if (found.length === 0 && !(at === 0 && (hasHeadings ?? isHeadings(each.text))))
      rejected.push({ line: each.line, text: each.text.trim() })
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
