import { inspectionsFor, smtpMailerFor } from '@berth/server/start/adapters.ts'
import { addressesFor, type Config } from '@berth/server/config/config.ts'
import { configWarnings } from '@berth/server/config/config-warnings.ts'
import { reasonOf } from '#/command-failure.ts'
import type { CheckContext } from '#/doctor/check.ts'
import { bySeverity, checksFor, runChecks, type NamedFinding } from '#/doctor/run-checks.ts'

/** Checks of `berth doctor` that say nothing before the first start. */
const later = new Set(['backups', 'service', 'host rules', 'policies'])

/** Result of the checks before the file is written. */
export interface AnswerCheck {
  readonly findings: readonly NamedFinding[]
  readonly notChecked: readonly { readonly check: string; readonly reason: string }[]
}

/** Looks at the machine with these settings, as `berth doctor` does. @param isRunning a running Berth has its ports */
export async function checkAnswers(config: Config, isRunning: boolean, signal: AbortSignal): Promise<AnswerCheck> {
  const checks = checksFor(config).filter(({ name }) => !later.has(name) && !(isRunning && name === 'ports'))
  const results = await runChecks(checks, contextWithoutService(config, await inspectionsFor(config)), signal)
  return {
    findings: bySeverity(results),
    notChecked: results.flatMap(({ check, notChecked: reason }) => (reason === null ? [] : { check, reason })),
  }
}

/** What checks look at on this machine with these settings, while no service runs. */
export function contextWithoutService(
  config: Config,
  inspections: Pick<CheckContext, 'engine' | 'cluster'>,
): CheckContext {
  const addresses = addressesFor(config, config.port)
  return {
    config,
    addresses,
    warnings: configWarnings(config, addresses),
    notes: [],
    service: null,
    sshHostKeys: [],
    ...inspections,
    nameServers: null,
    proc: '/proc',
    now: new Date(),
  }
}

/** Sends a real mail. @returns why it was not accepted; null when it was */
export async function sendTestMail(config: Config, to: string): Promise<string | null> {
  const mailer = smtpMailerFor(config)
  if (!mailer) return 'SMTP_URL is not set'
  const text = `This is the test mail of "berth init". Mails with sign-in links will come from this sender.\n`
  try {
    await mailer.send({ to, subject: 'Test mail of Berth', text, html: `<p>${text.replaceAll('"', '&quot;')}</p>` })
    return null
  } catch (error) {
    return reasonOf(error)
  } finally {
    mailer.close()
  }
}
