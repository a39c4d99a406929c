import { Command, type OutputConfiguration } from 'commander'
import { packageVersion } from '@berth/server/machine/package-version.ts'
import { addAudit } from '#/commands/audit-command.ts'
import { backup } from '#/commands/backup-command.ts'
import { addConfig } from '#/commands/config-check-command.ts'
import { addContainers } from '#/commands/containers-command.ts'
import { addKeys } from '#/commands/keys-command.ts'
import { addUsers, link } from '#/commands/users-command.ts'
import { restore } from '#/commands/restore-command.ts'
import { status } from '#/commands/status-command.ts'
import { addStore } from '#/commands/store-command.ts'
import { addTokens } from '#/commands/tokens-command.ts'
import { usage } from '#/commands/usage-command.ts'
import { addEnvironments } from '#/commands/environments-command.ts'
import { addGroups } from '#/commands/groups-command.ts'
import { addDoctor } from '#/doctor/doctor-command.ts'
import { addInit } from '#/init/init-command.ts'
import { addHomes } from '#/commands/homes-command.ts'
import { addSnapshots } from '#/commands/snapshots-command.ts'
import { addShares } from '#/commands/shares-command.ts'
import { addCommands, addHelp } from './command.ts'
import { addLinks } from '#/commands/link-command.ts'
import { addTemplates } from '#/commands/templates-command.ts'
import type { CommandContext } from './with-api.ts'

/** Options of every command. */
export interface GlobalOptions {
  readonly json?: true
  readonly verbose?: true
}

/**
 * All commands with their help. Parsing throws commander's error with the exit code instead of ending the process.
 * @param createContext creates the context of a command from the global options
 */
export function createProgram(
  createContext: (options: GlobalOptions) => CommandContext,
  output: OutputConfiguration,
): Command {
  const program = new Command('berth')
  prepare(program, output)
  program
    .description('Administer a Berth from the account that it runs as, with or without a running service.')
    .version(packageVersion(), '--version', 'print the version of Berth')
    .option('--json', 'print JSON: one document, or one line per list entry')
    .option('--verbose', 'without a running service: report progress on stderr')
  addHelp(program, {
    effect:
      'Needs the DATA_DIR of the service; without a running service also its other settings. The audit log records ' +
      'the operator as the actor. Exit codes: 0 done, 1 refused or failed (reason on stderr), 2 wrong usage, 130 Ctrl-C.',
    examples: [
      ['users block ann@example.org', 'block a user at once'],
      ['containers stop --help', 'help of a command, and its effect on running containers'],
    ],
  })
  const run = (work: (context: CommandContext) => Promise<void>) => work(createContext(program.opts<GlobalOptions>()))
  addCommands(program, run, { status })
  addUsers(program, run)
  addContainers(program, run)
  addCommands(program, run, { link })
  addLinks(program, run)
  addGroups(program, run)
  addCommands(program, run, { usage })
  addTokens(program, run)
  addShares(program, run)
  addSnapshots(program, run)
  addHomes(program, run)
  addAudit(program, run)
  addKeys(program, run)
  addTemplates(program, run)
  addEnvironments(program, run)
  addCommands(program, run, { backup, restore })
  addStore(program, run)
  addInit(program, run)
  addConfig(program, run)
  addDoctor(program, run)
  return program
}

/** Commands that are created afterwards inherit this. */
function prepare(program: Command, output: OutputConfiguration): void {
  program
    .exitOverride()
    .configureOutput(output)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .showSuggestionAfterError()
    .showHelpAfterError('("berth help" shows the commands, and --help after a command what it does)')
}

/** Every command with an action, by its words; for the reference page and for tests. */
export function* commandsOf(command: Command, words = ''): Generator<readonly [words: string, command: Command]> {
  const inner = command.commands.filter((each) => each.name() !== 'help')
  // `link` prints a login link for the account that its argument names, and `link open` is a command of its own.
  if (inner.length === 0 || command.registeredArguments.length > 0) yield [words, command]
  for (const each of inner) yield* commandsOf(each, `${words} ${each.name()}`.trim())
}
