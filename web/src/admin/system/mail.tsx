import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { useTranslations } from 'use-intl/react'
import { Figure, Figures } from '#/admin/figure.tsx'
import { useAgo } from '#/admin/use-instants.ts'
import { useQuantities } from '#/admin/quantities.ts'
import { mailAdvice } from './mail-advice.ts'
import { MailFailures } from './mail-failures.tsx'
import { Section } from './section.tsx'

/** The delivery of mail, as far as Berth knows it. */
export function Mail({ mail }: { mail: SystemReport['mail'] }) {
  const t = useTranslations('admin.system.mail')
  const { count, duration, percent } = useQuantities()
  const ago = useAgo()
  const spread = (times: SystemReport['mail']['seconds_to_use']) =>
    times ? { value: duration(times.median), meaning: t('spread', { p90: duration(times.p90) }) } : { value: undefined }
  return (
    <Section title={t('title')} about={t('about')}>
      {mailAdvice(mail).map((advice) => (
        <p key={advice} className="note">
          {t(advice)}
        </p>
      ))}
      <Figures>
        <Figure label={t('accepted')} value={count(mail.accepted)} meaning={t('acceptedBy')} />
        <Figure
          label={t('failed')}
          value={count(mail.failed)}
          meaning={mail.last_failure_at === null ? undefined : t('failedLast', { ago: ago(mail.last_failure_at) })}
        />
        <Figure
          label={t('used')}
          value={count(mail.used)}
          meaning={mail.accepted === 0 ? undefined : t('usedOf', { share: percent(mail.used / mail.accepted) })}
        />
        <Figure label={t('toAccept')} {...spread(mail.seconds_to_accept)} />
        <Figure label={t('toUse')} {...spread(mail.seconds_to_use)} />
      </Figures>
      {mail.failures.length > 0 && <MailFailures failures={mail.failures} />}
    </Section>
  )
}
