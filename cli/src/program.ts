import { Command, type OutputConfiguration } from 'commander'
import { packageVersion } from '@berth/server/machine/package-version.ts'
import { auditCommands } from '#/commands/audit-command.ts'
import { backup } from '#/commands/backup-command.ts'
import { configCommands } from '#/commands/config-check-command.ts'
import { containersCommands } from '#/commands/containers-command.ts'
import { keysCommands } from '#/commands/keys-command.ts'
import { link, usersCommands } from '#/commands/users-command.ts'
import { restore } from '#/commands/restore-command.ts'
import { status } from '#/commands/status-command.ts'
import { storeCommands } from '#/commands/store-command.ts'
import { tokensCommands } from '#/commands/tokens-command.ts'
import { usage } from '#/commands/usage-command.ts'
import { environmentsCommands } from '#/commands/environments-command.ts'
import { groupsCommands } from '#/commands/groups-command.ts'
import { doctorCommands } from '#/doctor/doctor-command.ts'
import { init } from '#/init/init-command.ts'
import { homesCommands } from '#/commands/homes-command.ts'
import { snapshotsCommands } from '#/commands/snapshots-command.ts'
import { sharesCommands } from '#/commands/shares-command.ts'
import { addCommands, addHelp } from './command.ts'
import { openLinkCommand } from '#/commands/link-command.ts'
import { templatesCommands } from '#/commands/templates-command.ts'
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
  addCommands(program, run, {
    status,
    users: usersCommands,
    containers: containersCommands,
    link: { ...link, commands: () => ({ open: openLinkCommand }) },
    groups: groupsCommands,
    usage,
    tokens: tokensCommands,
    shares: sharesCommands,
    snapshots: snapshotsCommands,
    homes: homesCommands,
    audit: auditCommands,
    keys: keysCommands,
    templates: templatesCommands,
    environments: environmentsCommands,
    backup,
    restore,
    store: storeCommands,
    init,
    config: configCommands,
    doctor: doctorCommands,
  })
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
