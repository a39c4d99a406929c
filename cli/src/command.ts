import type { Command as CommandWithTypes, OptionValues } from '@commander-js/extra-typings'
import type { Command } from 'commander'
import { ApiError, type Client } from '@berth/api/client.ts'
import { CommandFailed, WrongUsage } from './command-failure.ts'
import type { Terminal } from './terminal.ts'
import { withApi, type CommandContext } from './with-api.ts'

/** A command to which arguments and options are added, with the types of their values. */
export type Usage<Arguments extends unknown[] = [], Options extends OptionValues = {}> = CommandWithTypes<
  Arguments,
  Options
>

/** Values of arguments and then those of options; what uses them does not say what they are, `usage` alone does. */
type Values<Arguments, Options> = Arguments extends unknown[] ? [...Arguments, Options] : never

/** A command: its help, its arguments and options, and what it does with their values: one of `work` and `api`. */
interface CommandSpec<Arguments extends unknown[], Options extends OptionValues> extends HelpText {
  readonly description: string
  /** Adds its arguments and options. */
  readonly usage?: (command: Usage) => Usage<Arguments, Options>
  readonly work?: (context: CommandContext, ...values: Values<Arguments, Options>) => Promise<void>
  /** See `withApi`. */
  readonly api?: (context: CommandContext, api: Client, ...values: Values<Arguments, Options>) => Promise<void>
  /** Of one call of `api`, in ms. */
  readonly timeout?: number
  /** What its group does without a further word. */
  readonly isDefault?: true
}

/** A command whose types are checked. */
interface DefinedCommand extends HelpText {
  readonly description: string
  readonly isDefault?: true
  readonly usage?: (command: Usage) => unknown
  readonly work: (context: CommandContext, ...values: never[]) => Promise<void>
}

/** Commands below a word. */
export interface CommandGroup {
  readonly description: string
  readonly alias?: string
  /** By their names, in the order in which help lists them. */
  readonly commands: () => Commands
}

/** A command may have others below it, too. */
export type Commands = Readonly<
  Record<string, CommandGroup | (DefinedCommand & Partial<Pick<CommandGroup, 'commands'>>)>
>

/** The values that a command gets have the types that its usage declares. */
export const defineCommand = <Arguments extends unknown[] = [], Options extends OptionValues = {}>({
  api,
  timeout,
  work = api && byApi(api, timeout),
  ...help
}: CommandSpec<Arguments, Options>): DefinedCommand => {
  if (!work) throw new Error(`the command to ${help.description} does nothing`)
  return { ...help, work: work as unknown as DefinedCommand['work'] }
}

/** Adds commands by their names, in the order in which help lists them. */
export function addCommands(parent: Command, run: Run, commands: Commands): void {
  for (const [name, spec] of Object.entries(commands)) {
    const command = parent.command(name, { isDefault: 'isDefault' in spec }).description(spec.description)
    if ('alias' in spec) command.alias(spec.alias)
    if ('work' in spec) addWork(command, run, spec)
    addCommands(command, run, spec.commands?.() ?? {})
  }
}

function addWork(command: Command, run: Run, { usage, work, effect, examples }: DefinedCommand): void {
  // It is the same object: the types of the other package say which values it parses.
  usage?.(command as unknown as Usage)
  command.action((...values: unknown[]) => run((context) => work(context, ...(values as never[]))))
  addHelp(command, { effect, examples })
}

/** Work that calls the API: see `withApi`. @param timeout of one call, in ms */
export const byApi =
  <Values extends readonly unknown[]>(
    work: (context: CommandContext, api: Client, ...values: Values) => Promise<void>,
    timeout?: number,
  ) =>
  (context: CommandContext, ...values: Values): Promise<void> =>
    withApi(context, (api) => work(context, api, ...values), timeout)

/** Work that prints all rows of a list: see `printPages`. */
export const listByApi = <Row extends object, Values extends readonly unknown[]>(
  pages: (api: Client, ...values: Values) => AsyncIterable<readonly Row[]>,
  format: ListFormat<Row>,
) => byApi(({ terminal }, api, ...values: Values) => printPages(terminal, pages(api, ...values), format))

/** Result for one of many targets. */
export interface Done {
  /** For people. */
  readonly line: string
  /** For programs. */
  readonly value: object
}

/** Number of targets from which the progress is shown. */
const many = 20

/**
 * Runs the same operation for one target after the other. A refused one does not stop the others; Ctrl-C ends between
 * two.
 * The JSON output is `{done: [...], failed: [{target, error}]}`.
 * @throws {CommandFailed} at the end, when any was refused
 */
export async function forEach(
  { terminal, signal }: CommandContext,
  targets: readonly string[],
  work: (target: string) => Promise<Done>,
): Promise<void> {
  const unique = [...new Set(targets)]
  const [done, failed]: [object[], object[]] = [[], []]
  for (const [at, target] of unique.entries()) {
    signal.throwIfAborted()
    if (unique.length >= many) terminal.progress(`${at} of ${unique.length}`)
    try {
      const { line, value } = await work(target)
      terminal.endProgress()
      terminal.print(line)
      done.push(value)
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof CommandFailed)) throw error
      terminal.note(`${target}: ${error.message}`)
      failed.push({ target, error: error.message })
    }
  }
  terminal.endProgress()
  terminal.json({ done, failed })
  if (failed.length > 0) throw new CommandFailed(`${failed.length} of ${unique.length} could not be done.`)
}

/**
 * Work of a command that takes targets as its argument, and does the same for each of them by the API: see `forEach`.
 * @param timeout of one call, in ms
 */
export const forEachByApi = (work: (api: Client, target: string) => Promise<Done>, timeout?: number) =>
  byApi(
    (context, api, targets: readonly string[], _options: object) =>
      forEach(context, targets, (target) => work(api, target)),
    timeout,
  )

/** Work of a command that removes what it is given the ids of. */
export const removeByApi = (remove: (api: Client, id: string) => Promise<{ readonly message: string }>) =>
  forEachByApi(async (api, id) => removed(id, await remove(api, id)))

/** Result for an id whose removal is answered by a sentence. */
export const removed = (id: string, { message }: { readonly message: string }): Done => ({
  line: `${id}: ${message}`,
  value: { id: Number(id), message },
})

/** Rows asked for at a time. */
const pageSize = '500'

/** Query of one page. */
export interface PageQuery {
  readonly limit: string
  readonly cursor?: string
}

/** Cursor pagination: asks for page after page, until the answer names no next one. @throws what `ask` throws */
export async function* pagesOf<Page extends { readonly next_cursor: string | null }>(
  ask: (page: PageQuery) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await ask({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) })
    yield page
    cursor = page.next_cursor
  }
}

/** How rows are printed. */
interface ListFormat<Row> {
  readonly headings: readonly string[]
  readonly rowOf: (row: Row) => string[]
  /** What is noted when there are no rows. */
  readonly none?: string
}

/** Prints pages of rows as tables, and with `--json` each row as a line. Waits until a page is written. */
export async function printPages<Row extends object>(
  terminal: Terminal,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { headings, rowOf, none = 'None.' }: ListFormat<Row>,
): Promise<void> {
  let found = 0
  for await (const rows of pages) {
    for (const row of rows) terminal.json(row)
    if (rows.length > 0) terminal.table(headings, rows.map(rowOf))
    found += rows.length
    await terminal.drained()
  }
  if (found === 0) terminal.note(none)
}

/**
 * Runs the work of a command with its context; provided by the program, because the output format is a global option.
 */
export type Run = (work: (context: CommandContext) => Promise<void>) => Promise<void>

export interface HelpText {
  /** Effects on running containers, and others that may surprise. */
  readonly effect: string
  /** Command lines without `berth`, and their purpose. */
  readonly examples: readonly (readonly [line: string, what: string])[]
}

const width = 78

/** Appends effects and examples to the help of a command. */
export function addHelp(command: Command, { effect, examples }: HelpText): Command {
  const lines = examples.flatMap(([line, what]) => [`  # ${what}`, `  berth ${line}`])
  return command.addHelpText('after', ['', ...wrap(effect), '', 'Examples:', ...lines].join('\n'))
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length + 1 > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}

/** Collects the values of an option that may be given several times. */
export const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value]

/** Parser of an option with an instant, which the API gets as it is written. @throws {WrongUsage} from a call, when it is none */
export const instantOption =
  (option: string) =>
  (text: string): string => {
    if (!Number.isNaN(Date.parse(text))) return text
    throw new WrongUsage(`${option}: "${text}" is no instant such as 2027-10-31T00:00:00Z.`)
  }
