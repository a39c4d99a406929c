import type { Client } from '@berth/api/client.ts'
import type { Command } from 'commander'
import { withApi, type CommandContext } from './with-api.ts'
import { addHelp, type HelpText, type Run } from './help.ts'
import { printPages, type ListFormat } from './paged-list.ts'

/** A command: its help, its arguments and options, and what it does. */
export interface CommandSpec extends HelpText {
  readonly description: string
  /** Adds its arguments and options. */
  readonly usage?: (command: Command) => Command
  /** What it does, with the values of its arguments and then those of its options. */
  readonly work: (context: CommandContext, ...values: never[]) => Promise<void>
}

/** Adds commands by their names, in the order in which help lists them. */
export function addCommands(parent: Command, run: Run, specs: Readonly<Record<string, CommandSpec>>): void {
  for (const [name, { description, usage, work, ...help }] of Object.entries(specs)) {
    const command = parent.command(name).description(description)
    usage?.(command)
    command.action((...values: unknown[]) => run((context) => work(context, ...(values as never[]))))
    addHelp(command, help)
  }
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
