import { cleanName, nameColumnsIn } from '@berth/api/person-names.ts'

/** An address, or a line without one, as written. */
export interface TextLine {
  /** From 1 on, as editors and spreadsheets count. */
  readonly line: number
  readonly text: string
}

/** An address, with the name that its line has. */
export interface FoundAddress extends TextLine {
  readonly name?: string
}

/** The addresses found in a text. */
export interface FoundAddresses {
  /** Each once, case-insensitively, in the order of the text, with the first of its lines. */
  readonly addresses: readonly FoundAddress[]
  /** Lines without any address, except a header line. */
  readonly rejected: readonly TextLine[]
  /** Columns of a table, when several hold addresses; then only those of one count. Otherwise none. */
  readonly columns: readonly AddressColumn[]
  /**
   * Id of the column that counts, or `allColumns`; undefined: one has to be chosen, and until then nothing is found.
   */
  readonly column: string | undefined
}

/** In place of the id of a column: every address of the text counts. */
export const allColumns = 'all'

/**
 * Finds addresses in pasted text or a file: one a line; separated by commas, semicolons, tabs or spaces;
 * `Ann <ann@x.org>` as mail programs copy it; or the rows of a spreadsheet (`name;email;class`), whose other cells but
 * names are ignored. The server decides whether an address is valid.
 * @param chosen the column that counts, or `allColumns`; without effect when the text has no such column
 */
export function findAddresses(text: string, chosen?: string): FoundAddresses {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((text, at) => ({ line: at + 1, text }))
    .filter(({ text }) => text.trim() !== '')
  const texts = lines.map(({ text }) => text)
  const table = addressTableOf(texts)
  const nameOf = nameReader(texts)
  if (!table) return { ...readLines(lines, nameOf, addressesOfLine), columns: [], column: undefined }
  const { columns, usual, cellsOf } = table
  if (chosen === allColumns) return { ...readLines(lines, nameOf, addressesOfLine), columns, column: allColumns }
  const column = columns.find(({ id }) => id === chosen) ?? usual
  if (!column) return { addresses: [], rejected: [], columns, column: undefined }
  const addressesOf = (line: string) => addressesOfLine(cellsOf(line)[column.index] ?? '')
  return { ...readLines(lines, nameOf, addressesOf, column.heading !== ''), columns, column: column.id }
}

/** @param hasHeadings in the first line; undefined: by its words */
function readLines(
  lines: readonly TextLine[],
  nameOf: (line: string) => string,
  addressesOf: (line: string) => string[],
  hasHeadings?: boolean,
) {
  const first = new Map<string, FoundAddress>()
  const rejected: TextLine[] = []
  for (const [at, each] of lines.entries()) {
    const found = addressesOf(each.text)
    if (found.length === 0 && !(at === 0 && (hasHeadings ?? isHeadings(each.text))))
      rejected.push({ line: each.line, text: each.text.trim() })
    // Of several addresses in a line it is not clear whose name it is.
    const name = found.length === 1 ? nameOf(each.text) : ''
    for (const address of found) {
      const key = address.toLowerCase()
      if (!first.has(key)) first.set(key, { line: each.line, text: address, ...(name !== '' && { name }) })
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

/**
 * What a list calls the person of a line: its columns of names, what stands before an address in `<>`, or the other one
 * of two cells.
 * @returns reads a line; an empty text is no name
 */
function nameReader(lines: readonly string[]): (line: string) => string {
  const delimiter = delimiterOf(lines)
  const headings = delimiter === undefined ? [] : splitCells(lines[0] ?? '', delimiter)
  const columns = nameColumnsIn(headings)
  return (line) => {
    const [, named] = /^([^<>@]*)<[^<>]*@[^<>]*>\s*$/.exec(line) ?? []
    if (named !== undefined) return cleanName(unquoted(named.trim()))
    if (delimiter === undefined) return ''
    const cells = splitCells(line, delimiter)
    if (columns.length > 0) return cleanName(columns.map((column) => cells[column] ?? '').join(' '))
    const others = cells.filter((cell) => !holdsAddress(cell))
    return cells.length === 2 && others.length === 1 && /^[\p{L}\p{M}][\p{L}\p{M}\s.,'’-]*$/u.test(others[0] ?? '')
      ? cleanName(others[0] ?? '')
      : ''
  }
}

/** The one that separates the cells of a table. */
const delimiterOf = (lines: readonly string[]) => ['\t', ';', ','].find((each) => lines[0]?.includes(each))

/** A column of a table that holds addresses. */
interface AddressColumn {
  /** Differs from those of other columns; stays while the heading does. */
  readonly id: string
  /** From 0 on. */
  readonly index: number
  /** Empty for a table without headings. */
  readonly heading: string
  /** The first address in it, as written. */
  readonly example: string
}

/** A table of which several columns hold addresses, e.g. of pupils, parents and teachers. */
interface AddressTable {
  /** Two at least. */
  readonly columns: readonly AddressColumn[]
  /** The one whose heading means an address; undefined when none does, or several do. */
  readonly usual: AddressColumn | undefined
  cellsOf(line: string): readonly string[]
}

/** Headings of an address column; the command line has them, too, in English. */
const usualHeading = /^(e-?mail|mail)([ -]?(address|adresse))?$/i

/**
 * Tells a table from a list: it has headings, or the same number of cells in each line and a column without an address.
 * @param lines without empty ones
 * @returns undefined for a list, and for a table of which one column holds addresses, or none
 */
function addressTableOf(lines: readonly string[]): AddressTable | undefined {
  const delimiter = delimiterOf(lines)
  if (delimiter === undefined || lines.length < 2) return undefined
  const cellsOf = (line: string) => splitCells(line, delimiter)
  const rows = lines.map(cellsOf)
  const [first = []] = rows
  const hasHeadings = !first.some(holdsAddress) && rows.every(({ length }) => length <= first.length)
  const isEven = rows.every(({ length }) => length === first.length)
  const columns = first.flatMap((heading, index): AddressColumn[] => {
    const example = rows.map((row) => row[index] ?? '').find(holdsAddress)
    if (example === undefined) return []
    const name = hasHeadings ? heading : ''
    return [{ id: `${index} ${name}`, index, heading: name, example }]
  })
  // A second file with headings of its own, in another order: the column of the first one would be wrong for its rows.
  const isTwoTables = rows.slice(1).some((row) => row.some((cell, at) => usualHeading.test(cell) && cell !== first[at]))
  if (isTwoTables) return undefined
  const isTable = hasHeadings || (isEven && columns.length < first.length)
  if (!isTable || columns.length < 2) return undefined
  const usual = columns.filter(({ heading }) => usualHeading.test(heading))
  return { columns, usual: usual.length === 1 ? usual[0] : undefined, cellsOf }
}

const holdsAddress = (cell: string) => cell.includes('@')

/** The cells of a line, trimmed and without quotes around them; a delimiter in quotes is part of its cell. */
function splitCells(line: string, delimiter: string): string[] {
  const cells: string[] = []
  let [start, isQuoted] = [0, false]
  for (let at = 0; at <= line.length; at++)
    if (line[at] === '"') isQuoted = !isQuoted
    else if (at === line.length || (line[at] === delimiter && !isQuoted)) {
      cells.push(unquoted(line.slice(start, at).trim()))
      start = at + 1
    }
  return cells
}

const unquoted = (cell: string) => (/^".*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell)

/** Max file size in bytes: a list of 50,000 people has about 3 MB. */
const maxFileBytes = 8 * 1024 * 1024

/**
 * Decodes a text file. Spreadsheet programs write UTF-8, UTF-16 with a byte order mark, or a Windows code page, of which the
 * one of Western Europe is assumed: addresses are ASCII, so a name in another one does no harm.
 * @returns undefined when it is too large, or no text
 */
export async function readTextFile(file: Blob): Promise<string | undefined> {
  if (file.size > maxFileBytes) return undefined
  const bytes = new Uint8Array(await file.arrayBuffer())
  const text = decoded(bytes)
  return text.includes('\0') ? undefined : text
}

function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
