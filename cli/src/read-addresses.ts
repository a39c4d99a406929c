import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { parse } from 'csv-parse'
import { cleanName, nameColumnsIn } from '@berth/api/person-names.ts'
import { CommandFailed, reasonOf, WrongUsage } from './command-failure.ts'

/** Headings of an address column, when no column is named. */
const defaultHeading = /^e-?mail([ -_]?address)?$|^mail$/i

/**
 * Addresses of one call that mails: so many mails are sent between two updates of the progress and checks of Ctrl-C, and within the
 * time that Berth gives one list, also by a slow mail server.
 */
export const addressesPerCall = 50

/** In the order in which a line is searched for them: cells between tabs or semicolons may hold commas. */
const delimiters = ['\t', ';', ',']
/** A cell that is an address and nothing else. */
const wholeAddress = /^[^\s,;@]+@[^\s,;@]+$/

/** More addresses than any organisation imports; a file of another kind is rejected before it fills the memory. */
const maxAddresses = 100_000

/** A row of a list. */
export interface ListedAddress {
  readonly address: string
  /** Of its columns of names; empty when there is none. */
  readonly name: string
}

/** The addresses of a CSV file alone; see `readList`. */
export const readAddresses = async (file: string, column?: string): Promise<string[]> =>
  (await readList(file, column)).map(({ address }) => address)

/**
 * Reads addresses and names of a CSV file as spreadsheets and school systems write it: separated by commas, semicolons or
 * tabs, of which one file has one, with or without headings.
 * @param column heading of the column; otherwise one that means an address, or, without headings, the first with an `@`
 * @throws {CommandFailed} when it cannot be read @throws {WrongUsage} when the column cannot be determined
 */
export async function readList(file: string, column?: string): Promise<ListedAddress[]> {
  const addresses: ListedAddress[] = []
  let at: number | undefined
  let names: readonly number[] = []
  try {
    for await (const row of rowsOf(file)) {
      const isFirst = at === undefined
      at ??= columnIn(row, file, column)
      const address = row[at]?.trim() ?? ''
      const isHeading = isFirst && !address.includes('@')
      if (isHeading) names = nameColumnsIn(row.map((cell) => cell.trim()))
      const name = cleanName(names.map((each) => row[each] ?? '').join(' '))
      if (address !== '' && !isHeading) addresses.push({ address, name })
      if (addresses.length > maxAddresses) throw new CommandFailed(`${file} has more than ${maxAddresses} addresses.`)
    }
  } catch (error) {
    if (error instanceof CommandFailed) throw error
    throw new CommandFailed(`${file} cannot be read as CSV: ${reasonOf(error)}`)
  }
  return addresses
}

async function* rowsOf(file: string): AsyncGenerator<string[]> {
  const source = createReadStream(file)
  await once(source, 'readable')
  // Up to 64 KiB. Put back, because a pipe can be read only once.
  const start = source.read() as Buffer | null
  if (start) source.unshift(start)
  const delimiter = delimiterIn(start?.toString('latin1') ?? '')
  const parser = parse({ bom: true, delimiter, relax_column_count: true, skip_empty_lines: true })
  yield* source.on('error', (error) => parser.destroy(error)).pipe(parser)
}

/** The delimiter of the first line that has one outside quotes; the others are part of the cells, as in `Müller, Ann`. */
function delimiterIn(text: string): string {
  const lines = text.replaceAll(/"[^"]*"?/g, '').split(/[\r\n]+/)
  const line = lines.find((each) => delimiters.some((delimiter) => each.includes(delimiter))) ?? ''
  const isSplitBy = (each: string) => line.includes(each)
  // A list without headings may have another delimiter in a note: the one that sets an address apart counts.
  const isApart = (each: string) => line.split(each).some((cell) => wholeAddress.test(cell.trim()))
  return delimiters.find((each) => isSplitBy(each) && isApart(each)) ?? delimiters.find(isSplitBy) ?? ','
}

function columnIn(row: readonly string[], file: string, wanted: string | undefined): number {
  const headings = row.map((cell) => cell.trim())
  const isWanted = (heading: string) =>
    wanted === undefined ? defaultHeading.test(heading) : heading.toLowerCase() === wanted.trim().toLowerCase()
  const named = headings.findIndex(isWanted)
  const found = named === -1 && wanted === undefined ? headings.findIndex((cell) => cell.includes('@')) : named
  if (found !== -1) return found
  throw new WrongUsage(`Which column of ${file} has the addresses? Say --column with one of: ${headings.join(', ')}.`)
}
