import { once } from 'node:events'
import { open, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandFailed, reasonOf } from './command-failure.ts'

/** Streams of a command; `isTTY` as in Node: connected to a terminal. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: Writable & { readonly isTTY?: boolean }
}

/** Interval of progress lines without a terminal, in ms. */
const progressEvery = 5_000

/**
 * Results go to stdout: aligned text for people, or JSON for programs, never both. Everything else goes to stderr, so
 * that a pipe receives only the result.
 */
export class Terminal {
  readonly #streams: Streams
  readonly isJson: boolean
  #progressAt = 0
  #isLineOpen = false
  /** Of the table that was printed last. */
  #headings: readonly string[] | undefined

  constructor(streams: Streams, isJson: boolean) {
    this.#streams = streams
    this.isJson = isJson
  }

  /** One line of the result for people. */
  print(line: string): void {
    if (!this.isJson) this.#streams.stdout.write(`${oneLine(line)}\n`)
  }

  /** The result for programs: one document on one line. */
  json(value: unknown): void {
    if (this.isJson) this.#streams.stdout.write(`${jsonLine(value)}\n`)
  }

  /** Rows under headings; further rows of the same table come without. */
  table(headings: readonly string[], rows: readonly (readonly string[])[]): void {
    const { isTTY, columns } = this.#streams.stdout
    const lines = formatTable(headings, rows, isTTY ? columns : undefined)
    for (const line of headings === this.#headings ? lines.slice(1) : lines) this.print(line)
    this.#headings = headings
  }

  /** Part of a result with its own format, such as CSV. Resolves when stdout takes more. */
  async write(text: string): Promise<void> {
    this.#streams.stdout.write(text)
    await this.drained()
  }

  /** Resolves when stdout takes more (backpressure): a long list must not be buffered in memory. */
  async drained(): Promise<void> {
    const { stdout } = this.#streams
    if (stdout.writableNeedDrain) await once(stdout, 'drain')
  }

  /** A line on stderr, in every output format. */
  note(line: string): void {
    this.#endLine()
    this.#streams.stderr.write(`${oneLine(line)}\n`)
  }

  /** Progress of long work: one line that is rewritten at a terminal, otherwise a line at intervals. */
  progress(words: string): void {
    const { stderr } = this.#streams
    if (stderr.isTTY) {
      stderr.write(`\r\u001b[K${words}`)
      this.#isLineOpen = true
    } else if (performance.now() - this.#progressAt > progressEvery) {
      this.#progressAt = performance.now()
      stderr.write(`${words}\n`)
    }
  }

  /** Clears the progress line. */
  endProgress(): void {
    this.#endLine()
  }

  /**
   * Asks for a `yes`. @throws {CommandFailed} for another answer, or without a terminal @param otherwise the option
   * that confirms
   */
  async confirm(question: string, otherwise: string, signal: AbortSignal): Promise<void> {
    const { stdin, stderr } = this.#streams
    if (!stdin.isTTY || !stderr.isTTY)
      throw new CommandFailed(
        `This needs a confirmation, and there is no terminal to ask at; add ${otherwise} to confirm.`,
      )
    const answer = await this.ask(`${question} Type yes to go on: `, signal)
    if (answer?.toLowerCase() !== 'yes') throw new CommandFailed('Nothing was done.')
  }

  /** Whether there is a terminal to ask at. */
  get isInteractive(): boolean {
    return this.#streams.stdin.isTTY === true && this.#streams.stderr.isTTY === true
  }

  /**
   * Asks for a line. @param isHidden what is typed is not shown
   * @returns it without surrounding space; undefined at the end of the input and after Ctrl-C at the question
   * @throws the reason of the signal
   */
  async ask(question: string, signal: AbortSignal, isHidden = false): Promise<string | undefined> {
    const { stdin, stderr } = this.#streams
    // A terminal shows what readline writes: for a secret, nothing.
    const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : stderr
    const lines = createInterface({ input: stdin, output, ...(isHidden ? { terminal: true } : {}) })
    // The end of the input closes it without an answer.
    const closed = once(lines, 'close', { signal }).then(() => undefined)
    try {
      if (isHidden) stderr.write(question)
      const answer = await Promise.race([lines.question(isHidden ? '' : question, { signal }), closed])
      return answer?.trim()
    } catch (error) {
      signal.throwIfAborted()
      // Ctrl-C at the question.
      if ((error as Error).name === 'AbortError') return undefined
      throw error
    } finally {
      if (isHidden) stderr.write('\n')
      lines.close()
    }
  }

  #endLine(): void {
    if (this.#isLineOpen) this.#streams.stderr.write('\r\u001b[K')
    this.#isLineOpen = false
  }
}

/** Gap between two columns. */
const gap = '  '
/** Min width of a column. */
const minWidth = 6

/**
 * Table with aligned columns; the last column is not padded.
 * @param width max characters of a line; the widest columns are cut to it. Without it nothing is cut
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width?: number,
): readonly string[] {
  const cells = [headings, ...rows.map((row) => row.map(oneLine))]
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  if (width !== undefined) narrow(widths, width - gap.length * (headings.length - 1))
  return cells.map((row) =>
    row
      .map((cell, at) => fit(cell, widths[at] ?? 0))
      .join(gap)
      .trimEnd(),
  )
}

/** Text from users and clients may contain line breaks and terminal control sequences. */
export const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

/**
 * JSON without control sequences for a terminal: JSON escapes those of C0 alone, and terminals take a C1 character, such as
 * U+009B, as the begin of one, too.
 */
const jsonLine = (value: unknown) =>
  JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (text) =>
    Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )

function narrow(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const widest = Math.max(...widths)
    if (widest <= minWidth) return
    widths[widths.indexOf(widest)] = widest - 1
  }
}

const fit = (cell: string, width: number) =>
  cell.length <= width ? cell.padEnd(width) : `${cell.slice(0, Math.max(0, width - 1))}…`

/** An instant as people read it: to the minute, in UTC like the log. */
export const formatInstant = (text: string | null) => (text === null ? 'never' : text.slice(0, 16).replace('T', ' '))

export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

export const formatBoolean = (is: boolean) => (is ? 'yes' : 'no')

/**
 * Writes a new file, readable by its owner only; a file that could not be completed is removed.
 * @param name as typed, for the message
 * @throws {CommandFailed} when it exists, or cannot be written · the signal's reason · what the parts throw
 */
export async function writeNewFile(
  file: string,
  name: string,
  parts: () => AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  try {
    // Opened first: a stream that fails before it has opened its file would create it after it was removed.
    const stream = (await open(file, 'wx', 0o600)).createWriteStream()
    await pipeline(parts, stream, { signal })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new CommandFailed(`${name} is there already, and is not written over.`)
    // If opening failed there is no file of ours to remove.
    if (syscall !== 'open') await rm(file, { force: true })
    throw syscall === undefined ? error : new CommandFailed(`${name} cannot be written: ${reasonOf(error)}`)
  }
}
