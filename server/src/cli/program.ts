import { Command, type OutputConfiguration } from 'commander'
import { addAudit } from './commands/audit-command.ts'
import { addConfig } from './commands/config-check-command.ts'
import { addContainers } from './commands/containers-command.ts'
import { addKeys } from './commands/keys-command.ts'
import { addLink } from './commands/link-command.ts'
import { addStatus } from './commands/status-command.ts'
import { addUsers } from './commands/users-command.ts'
import { addHelp } from './output/help.ts'
import type { CommandContext } from './api/with-api.ts'

/** What holds for every command. */
export interface GlobalOptions {
  readonly json?: true
  readonly verbose?: true
}

/**
 * All commands with their help. Parsing throws commander's error, with the exit code in it, instead of ending the process.
 * @param createContext makes what a command works with, from the options that hold for every command
 */
export function createProgram(
  createContext: (options: GlobalOptions) => CommandContext,
  output: OutputConfiguration,
): Command {
  const program = new Command('berth')
  prepare(program, output)
  program
    .description('Administer a Berth from the account that it runs as. Works whether the service runs or not.')
    .option('--json', 'answer in JSON: one document, or one line for each of a list')
    .option('--verbose', 'while no service runs: say on stderr what is being done')
  addHelp(program, {
    effect:
      'Needs the DATA_DIR of the service, and while none runs its other settings, too. What you do is in the audit log as ' +
      'done by the operator. Exit codes: 0 done, 1 refused or failed (why is on stderr), 2 wrong usage, 130 Ctrl-C.',
    examples: [
      ['users block ann@example.org', 'keep somebody out, at once'],
      ['containers stop --help', 'what a command does, and what happens to containers that run'],
    ],
  })
  const run = (work: (context: CommandContext) => Promise<void>) => work(createContext(program.opts<GlobalOptions>()))
  addStatus(program, run)
  addUsers(program, run)
  addContainers(program, run)
  addLink(program, run)
  addAudit(program, run)
  addKeys(program, run)
  addConfig(program, run)
  return program
}

/** Commands that are made afterwards inherit this. */
function prepare(program: Command, output: OutputConfiguration): void {
  program
    .exitOverride()
    .configureOutput(output)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showSuggestionAfterError()
    .showHelpAfterError('("berth help" shows the commands, and --help after a command what it does)')
}

/** Every command that does something, by its words; for the document and for tests. */
export function* commandsOf(command: Command, words = ''): Generator<readonly [words: string, command: Command]> {
  const inner = command.commands.filter((each) => each.name() !== 'help')
  if (inner.length === 0) yield [words, command]
  for (const each of inner) yield* commandsOf(each, `${words} ${each.name()}`.trim())
}
