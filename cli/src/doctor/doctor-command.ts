import { readFileSync } from 'node:fs'
import { Option } from '@commander-js/extra-typings'
import { defineCommand, type CommandGroup } from '#/command.ts'
import { withApi, type CommandContext } from '#/with-api.ts'
import { CommandFailed, reasonOf } from '#/command-failure.ts'
import { addressesFor, readConfig, type Config } from '@berth/server/config/config.ts'
import { configWarnings } from '@berth/server/config/config-warnings.ts'
import { levels, type CheckContext, type Level } from './check.ts'
import type { CheckResult } from './run-checks.ts'
import { attackCommand } from '#/attack/attack-command.ts'
import { findService } from '#/find-service.ts'
import { formatCount } from '#/terminal.ts'

/** `berth doctor check`, also without the last word, and `berth doctor attack`. */
export const doctorCommands: CommandGroup = {
  description: 'examine the installation: what will hurt, and what mends it',
  commands: () => ({ check, attack: attackCommand }),
}

const check = defineCommand({
  description: 'look for what will hurt: versions, TLS, DNS, disk, clock, backups, rules of the host',
  isDefault: true,
  usage: (command) =>
    command.addOption(
      new Option('--fail-on <level>', 'lowest level of a finding with exit code 1').choices(levels).default('warning'),
    ),
  effect:
    'Changes nothing. Works while Berth runs and while it does not; a running one knows more. Run it with the ' +
    'environment of the service, as its account or as root. All checks run at the same time, each for at most ' +
    '10 s; what cannot be checked is no finding. Levels: critical (users or data are at risk now), warning (it will ' +
    'hurt), hint. Exit code 1 if there is a finding of the level of --fail-on or above.',
  examples: [
    ['doctor check', 'after the installation, and after every change of the machine; berth doctor alone does the same'],
    ['doctor check --fail-on critical --json | jq -r ".findings[].what"', 'for monitoring'],
  ],
  work: (context, { failOn }) => examine(context, failOn),
})

async function examine(context: CommandContext, failOn: Level): Promise<void> {
  const { terminal, signal } = context
  const { config, problems: wrong } = readConfig(context.env, (file) => readFileSync(file, 'utf8'))
  const problems = [...context.settingProblems, ...wrong]
  if (!config || problems.length > 0) return refuseSettings(context, problems)
  const addresses = addressesFor(config, config.port)
  // Loaded here, because loading them would slow every other command.
  const [{ inspectionsFor }, { checksFor, runChecks, bySeverity, reachesLevel }] = await Promise.all([
    import('@berth/server/start/adapters.ts'),
    import('./run-checks.ts'),
  ])
  const service = await askService(context)
  const checked: CheckContext = {
    config,
    addresses,
    warnings: configWarnings(config, addresses),
    notes: context.settingNotes,
    service,
    sshHostKeys: service === null || typeof service === 'string' ? [] : await askHostKeys(context, config),
    ...(await inspectionsFor(config)),
    nameServers: null,
    proc: '/proc',
    now: new Date(),
  }
  const results = await runChecks(checksFor(config), checked, signal)
  const findings = bySeverity(results)
  const notChecked = results.flatMap(({ check, notChecked: reason }) => (reason === null ? [] : [{ check, reason }]))
  const passed = results.filter(isPassed).map(({ check }) => check)
  terminal.json({ findings, not_checked: notChecked, passed })
  for (const { level, check, what, fix } of findings) {
    terminal.print(`${level.padEnd(8)}  ${check}: ${what}`)
    terminal.print(`          fix: ${fix}`)
  }
  for (const { check, reason } of notChecked) terminal.print(`unknown   ${check}: could not be checked: ${reason}`)
  if (passed.length > 0) terminal.print(`ok        ${passed.join(', ')}`)
  if (reachesLevel(results, failOn)) throw new CommandFailed(`${formatCount(findings.length, 'finding')}; see above.`)
}

const isPassed = ({ findings, notChecked }: CheckResult) => findings.length === 0 && notChecked === null

/** Without settings nothing else can be looked at. */
function refuseSettings({ terminal }: CommandContext, problems: readonly string[]): never {
  const fix = 'correct berth.env or the environment; then: berth config check'
  const findings = problems.map((what) => ({ check: 'settings', level: 'critical', what, fix }))
  terminal.json({ findings, not_checked: [], passed: [] })
  for (const { what } of findings) terminal.print(`critical  settings: ${what}`)
  terminal.print(`          fix: ${fix}`)
  throw new CommandFailed('Berth cannot start with these settings; nothing else was checked.')
}

/** How long a service that runs may take to answer, in ms. */
const serviceTimeout = 5_000

/** Empty without `SSH_LISTEN`, and where they cannot be asked for now. */
async function askHostKeys(context: CommandContext, { sshListen }: Config): Promise<readonly string[]> {
  if (sshListen === null) return []
  try {
    return (await withApi(context, (api) => api.sshServer())).host_keys
  } catch {
    context.signal.throwIfAborted()
    return []
  }
}

async function askService(context: CommandContext): Promise<CheckContext['service']> {
  const { dataDir, signal } = context
  try {
    const service = await findService({ dataDir, note: () => {}, signal, timeout: serviceTimeout })
    return service ? await withApi(context, (api) => api.systemReport()) : null
  } catch (error) {
    signal.throwIfAborted()
    return reasonOf(error)
  }
}
