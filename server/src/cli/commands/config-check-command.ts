import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { addressesFor, readConfig, type Config } from '#/config/config.ts'
import { configWarnings } from '#/config/config-warnings.ts'
import { defaultLanguage } from '#/messages/language.ts'
import { localize } from '#/messages/localize.ts'
import { CommandFailed, reasonOf } from '#/cli/command-failure.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import type { CommandContext } from '#/cli/api/with-api.ts'

/** `berth config check`. */
export function addConfig(program: Command, run: Run): void {
  const config = program.command('config').description('the settings')
  const check = config
    .command('check')
    .description('say everything that is wrong with the settings, and whether what they name answers')
    .action(() => run(checkConfig))
  addHelp(check, {
    effect:
      'Changes nothing, also not in the store: give it the environment that the service will have, before it is started ' +
      'or told by SIGHUP to read berth.env and templates again. Lines with ! are what settings switch off: they are told ' +
      'at start and on the page System, too. Exit code 1 when anything is wrong, 0 when there is only that.',
    examples: [
      ['config check', 'with the settings of this shell'],
      ['config check --json | jq .settings.problems', 'for a script that deploys'],
    ],
  })
}

/** Whether something answers, in a sentence's end. */
interface Verdict {
  readonly ok: boolean
  readonly words: string
}

async function checkConfig({ env, settingProblems, settingNotes, terminal }: CommandContext): Promise<void> {
  const { config, problems: wrong } = readConfig(env, (file) => readFileSync(file, 'utf8'))
  const problems = [...settingProblems, ...wrong]
  const findings = config ? configWarnings(config, addressesFor(config, config.port)) : []
  const warnings = [...settingNotes, ...findings.map((finding) => localize(defaultLanguage, finding))]
  const parts: Record<string, Verdict> = config ? await checkParts(config) : {}
  terminal.json({ settings: { ok: problems.length === 0, problems, warnings }, ...parts })
  terminal.print(`settings  ${problems.length === 0 ? 'right' : 'wrong'}`)
  for (const problem of problems) terminal.print(`  - ${problem}`)
  for (const warning of warnings) terminal.print(`  ! ${warning}`)
  for (const [name, { words }] of Object.entries(parts)) terminal.print(`${name.padEnd(8)}  ${words}`)
  const isRight = problems.length === 0 && Object.values(parts).every(({ ok }) => ok)
  if (!isRight) throw new CommandFailed('Berth would not work with these settings.')
}

async function checkParts(config: Config): Promise<Record<'store' | 'engine' | 'mail', Verdict>> {
  // Loaded here, because every other command would be the slower for it.
  const [{ runtimeFor }, { checkSmtp }, { checkStore }] = await Promise.all([
    import('#/adapters.ts'),
    import('#/mail/check-smtp.ts'),
    import('#/store/check-store.ts'),
  ])
  const [store, engine, mail] = await Promise.all([
    verdictOn(checkStore(config.databaseUrl, config.dataDir)),
    verdictOn(
      runtimeFor(config, 'berth')
        .ping()
        .then(() => 'answers'),
    ),
    config.smtpUrl === null
      ? { ok: true, words: `no SMTP_URL: mail is written to ${config.dataDir}/outbox` }
      : verdictOn(checkSmtp(config.smtpUrl, config.smtpTls).then(() => 'answers')),
  ])
  return { store, engine, mail }
}

const verdictOn = (work: Promise<string>): Promise<Verdict> =>
  work.then(
    (words) => ({ ok: true, words }),
    (error: unknown) => ({ ok: false, words: `does not answer: ${reasonOf(error)}` }),
  )
