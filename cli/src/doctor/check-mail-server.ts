import { checkSmtp } from '@berth/server/accounts/mail/check-smtp.ts'
import type { MessageKey } from '@berth/texts/localized-message.ts'
import { settingFix, type CheckContext, type Finding } from './check.ts'

/** Warnings that no mail server is set where one is needed. */
const isNone: ReadonlySet<MessageKey> = new Set<MessageKey>(['findings.noMailServer', 'findings.outboxOfEachNode'])

/** Whether the mail server answers, and takes the user name and password. */
export async function checkMailServer({ config, warnings }: CheckContext): Promise<Finding[]> {
  if (config.smtpUrl === null) return warnings.some(({ key }) => isNone.has(key)) ? [none] : []
  const plain = warnings.some(({ key }) => key === 'findings.plainMail') ? [unencrypted] : []
  const failure = await checkSmtp(config.smtpUrl, config.smtpTls).then(
    () => undefined,
    (error: unknown) => error as Error,
  )
  return failure ? [refused(failure.message), ...plain] : plain
}

const none: Finding = {
  level: 'critical',
  what: 'SMTP_URL is not set: no mail is sent, and links are only written to the outbox and the log.',
  fix: 'berth init, which asks for the mail server; docs/how-to/send-mail.md',
}

const unencrypted: Finding = {
  level: 'warning',
  what: 'SMTP_TLS=opportunistic: mails with links that sign people in may travel unencrypted.',
  fix: settingFix('SMTP_TLS='),
}

const refused = (reason: string): Finding => ({
  level: 'critical',
  what: `The mail server does not take mails (${reason.split('\n')[0]}): users get no links.`,
  fix: 'correct SMTP_URL; check: berth config check; meanwhile: berth link address',
})
