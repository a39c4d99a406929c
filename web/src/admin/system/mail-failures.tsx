import type { MailFailure } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { useInstants } from '#/admin/use-instants.ts'

/** The recipients of mails that were not accepted, and the mail server's reply; at most 50. */
export function MailFailures({ failures }: { failures: readonly MailFailure[] }) {
  const t = useTranslations('admin.system.mail')
  const { full } = useInstants()
  return (
    <>
      <h3>{t('failures')}</h3>
      <p className="hint">{t('failuresAbout', { count: failures.length })}</p>
      <ul className="mail-failures">
        {failures.map(({ at, to, kind, reason }) => (
          <li key={`${at} ${to}`}>
            <time dateTime={at}>{full(at)}</time>
            <span className="address">
              {to} <small>{t(kind)}</small>
            </span>
            <span className="smtp-reply">{reason}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
