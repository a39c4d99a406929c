/** A column of a table that holds addresses. */
export interface AddressColumn {
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
export interface AddressTable {
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
export function addressTableOf(lines: readonly string[]): AddressTable | undefined {
  const delimiter = ['\t', ';', ','].find((each) => lines[0]?.includes(each))
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
