import { Option } from '@commander-js/extra-typings'
import { defineCommand } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { CommandFailed, WrongUsage, reasonOf } from '#/command-failure.ts'
import { requireDocker, requireSettings } from '#/commands/store-access.ts'
import { levels } from '#/doctor/check.ts'
import { formatCount } from '#/terminal.ts'
import type { AttemptResult } from './run-attack.ts'

/** `berth doctor attack`. */
export const attackCommand = defineCommand({
  description: 'start a hostile container on this machine, and report what it gets',
  usage: (command) =>
    command
      .option('--type <type>', 'template that it is made from; the first one if not given')
      .addOption(
        new Option('--fail-on <level>', 'lowest level of what it gets with exit code 1')
          .choices(levels)
          .default('warning'),
      ),
  effect:
    'Starts a second Berth for a minute, with these settings and templates but a store, users and containers of its ' +
    'own; image and program are made from files of this machine. It uses the rules of the host that are there, and sets ' +
    'none. Containers of users are only tried to be connected to. Memory and processes are exhausted within the ' +
    'limits of the one container. Everything is removed at the end, also after Ctrl-C. Exit code 1 if it ' +
    'got something of the level of --fail-on or above, or could not be started.',
  examples: [
    ['doctor attack', 'after the installation, and after updates of kernel, engine and firewall'],
    ['doctor attack --type notebook --json', 'with the limits of another template'],
  ],
  work: async (context, { type, failOn }) => {
    const { terminal, signal, log } = context
    const config = requireSettings(context)
    requireDocker(config, 'berth doctor attack tries an installation on Docker; it knows nothing of clusters yet.')
    const template = type === undefined ? config.templates.first : config.templates.get(type)
    if (!template)
      throw new WrongUsage(`There is no template ${type}. There are: ${config.templates.types.join(', ')}.`)
    // Loaded here, because loading them would slow every other command.
    const [{ openAttackInstallation }, { allAttempts, runAttack }] = await Promise.all([
      import('./attack-installation.ts'),
      import('./run-attack.ts'),
    ])
    terminal.progress('starting a hostile container ...')
    const installation = await openAttackInstallation(config, template, log, signal).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new CommandFailed(`The hostile container could not be started: ${reasonOf(error)}. Look: berth doctor`)
    })
    let results: AttemptResult[]
    try {
      terminal.endProgress()
      results = await runAttack(allAttempts, installation, signal, (result) => report(context, result))
    } finally {
      await installation
        .close()
        .catch((error: unknown) => terminal.note(`not everything could be removed: ${reasonOf(error)}`))
    }
    const got = results.flatMap(({ attempt, outcome }) => (outcome?.got ?? []).map((each) => ({ attempt, ...each })))
    const tried = results.flatMap(({ attempt, outcome }) => (outcome ? { attempt, tried: outcome.tried } : []))
    const notTried = results.flatMap(({ attempt, notTried: reason }) => (reason === null ? [] : { attempt, reason }))
    terminal.json({ template: template.type, got, tried, not_tried: notTried })
    if (got.some(({ level }) => levels.indexOf(level) <= levels.indexOf(failOn)))
      throw new CommandFailed(`The hostile container got ${formatCount(got.length, 'thing')}; see above.`)
  },
})

/** Line by line, as it goes. */
function report({ terminal }: CommandContext, { attempt, outcome, notTried }: AttemptResult): void {
  if (!outcome) return terminal.print(`unknown   ${attempt}: could not be tried: ${notTried}`)
  if (outcome.got.length === 0) return terminal.print(`nothing   ${attempt}: ${outcome.tried}`)
  for (const { level, what, fix } of outcome.got) {
    terminal.print(`${level.padEnd(8)}  ${attempt}: ${what}`)
    terminal.print(`          fix: ${fix}`)
  }
}
