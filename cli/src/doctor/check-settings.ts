import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import type { MessageKey } from '@berth/texts/localized-message.ts'
import type { CheckContext, Finding, Level } from './check.ts'

/** Warnings of the settings that other checks judge, with what they see beside. */
const elsewhere: ReadonlySet<MessageKey> = new Set<MessageKey>([
  'findings.plainHttp',
  'findings.openListener',
  'findings.certificateEnds',
  'findings.noTrustedProxy',
  'findings.anyTrustedProxy',
  'findings.noMailServer',
  'findings.outboxOfEachNode',
  'findings.plainMail',
  'findings.noHostRules',
])

/** Decisions that an operator may take; every other one is a warning. */
const levelOf: Partial<Record<MessageKey, Level>> = {
  'findings.nowhere': 'critical',
  'findings.noMemoryLimit': 'critical',
  'findings.publicSandbox': 'hint',
  'findings.authenticatedSandbox': 'hint',
}

/** What settings switch off, and what has no effect. Each sentence says what to set. */
export async function checkSettings({ warnings, notes }: CheckContext): Promise<Finding[]> {
  const judged = warnings.filter(({ key }) => !elsewhere.has(key))
  return [
    ...judged.map((warning) => ({
      level: levelOf[warning.key] ?? ('warning' as const),
      what: localize(defaultLanguage, warning),
      fix: 'change it in berth.env or in the templates; then: berth config check && systemctl reload berth',
    })),
    ...notes.map(
      (what) => ({ level: 'hint', what, fix: 'remove it, correct its name, or set what it counts with' }) as const,
    ),
  ]
}
