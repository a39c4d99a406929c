import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import type { CheckContext, Finding } from './check.ts'
import { warnings as texts } from '@berth/texts/en/warnings.ts'
import { isAboutProxies } from './check-proxy.ts'

/** Begin of the warning that the check of the host rules judges. */
const [aboutHostRules = ''] = texts.noRules.split('{')

const isJudgedElsewhere = (warning: string) => isAboutProxies(warning) || warning.startsWith(aboutHostRules)

/** Whether Berth runs, and what it reports of itself. */
export async function checkService({ service, warnings, config }: CheckContext): Promise<Finding[]> {
  if (service === null) return [notRunning(config.dataDir)]
  if (typeof service === 'string')
    return [{ level: 'critical', what: service, fix: 'journalctl -u berth; systemctl restart berth' }]
  const known = new Set(warnings.map((each) => localize(defaultLanguage, each)))
  const own = service.warnings.filter((each) => !known.has(each) && !isJudgedElsewhere(each))
  const failures = service.reconciler.failures.map((what): Finding => ({
    level: 'critical',
    what,
    fix: 'journalctl -u berth',
  }))
  return [
    ...failures,
    ...own.map((what): Finding => ({ level: 'warning', what, fix: 'see the page System' })),
    ...mailFindings(service.mail),
  ]
}

/** Mails that were not accepted, if they are more than a few of all. */
function mailFindings({
  accepted,
  failed,
  failures,
}: {
  accepted: number
  failed: number
  failures: readonly { reason: string }[]
}): Finding[] {
  if (failed === 0 || failed * 20 < accepted + failed) return []
  return [
    {
      level: 'warning',
      what: `${failed} of ${accepted + failed} mails were not accepted since the start; the last: ${failures[0]?.reason ?? 'not known'}.`,
      fix: 'see the page System, and docs/how-to/diagnose-late-mail.md',
    },
  ]
}

const notRunning = (dataDir: string): Finding => ({
  level: 'hint',
  what: `Berth does not run (data in ${dataDir}); what only a running service knows was not checked.`,
  fix: 'systemctl start berth',
})
