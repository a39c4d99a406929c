import { readFileSync } from 'node:fs'
import { defineCommand, type CommandGroup } from '#/command.ts'
import { CommandFailed, reasonOf } from '#/command-failure.ts'
import { callbackPath } from '@berth/server/accounts/oidc/provider-settings.ts'
import { addressesFor, readConfig, smtpHeloName, type Config } from '@berth/server/config/config.ts'
import { configWarnings } from '@berth/server/config/config-warnings.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'

/** `berth config check`. */
export const configCommands: CommandGroup = {
  description: 'settings: check them',
  commands: () => ({ check }),
}

const check = defineCommand({
  description: 'check the settings, and whether store, engine, mail server and OpenID Connect providers answer',
  effect:
    'Changes nothing. Run it with the environment of the service, before a start ' +
    'or a reload of berth.env and templates by SIGHUP. Lines with ! are warnings about protections ' +
    'that settings switch off. Exit code 1 if a setting is wrong, 0 with warnings only.',
  examples: [
    ['config check', 'settings of this shell'],
    ['config check --json | jq .settings.problems', 'for a deployment script'],
  ],
  work: async ({ env, settingProblems, settingNotes, terminal }) => {
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
  },
})

/** Result of a check, for the end of a sentence. */
interface Verdict {
  readonly ok: boolean
  readonly words: string
}

async function checkParts(config: Config): Promise<Record<string, Verdict>> {
  // Loaded here, because loading them would slow every other command.
  const [{ runtimeFor }, { checkSmtp, verifiesCertificate }, { checkStore }] = await Promise.all([
    import('@berth/server/start/adapters.ts'),
    import('@berth/server/accounts/mail/mail-transport.ts'),
    import('@berth/server/store/check-store.ts'),
  ])
  const isVerified = config.smtpUrl !== null && verifiesCertificate(config.smtpUrl, config.smtpTls)
  const mailWords = isVerified ? 'answers, with a verified certificate' : 'answers; its certificate is not verified'
  const [store, engine, mail] = await Promise.all([
    verdictOn(checkStore(config.databaseUrl, config.dataDir)),
    verdictOn(
      runtimeFor(config, 'berth')
        .then((runtime) => runtime.ping())
        .then(() => 'answers'),
    ),
    config.smtpUrl === null
      ? { ok: true, words: `no SMTP_URL: mail is written to ${config.dataDir}/outbox` }
      : verdictOn(
          checkSmtp({ url: config.smtpUrl, tls: config.smtpTls, name: smtpHeloName(config) }).then(() => mailWords),
        ),
  ])
  return { store, engine, mail, ...(await checkProviders(config)) }
}

/** One entry for each OpenID Connect provider. */
async function checkProviders(config: Config): Promise<Record<string, Verdict>> {
  if (config.providers.length === 0) return {}
  const { checkProvider } = await import('@berth/server/accounts/oidc/provider-discovery.ts')
  const { frontendUrl } = addressesFor(config, config.port)
  const checked = config.providers.map(async (provider) => {
    const verdict = await checkProvider(provider, frontendUrl + callbackPath(provider.id))
    return [`provider ${provider.id}`, verdict] as const
  })
  return Object.fromEntries(await Promise.all(checked))
}

const verdictOn = (work: Promise<string>): Promise<Verdict> =>
  work.then(
    (words) => ({ ok: true, words }),
    (error: unknown) => ({ ok: false, words: `does not answer: ${reasonOf(error)}` }),
  )
