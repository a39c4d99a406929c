import { useTranslations } from 'use-intl/react'
import { AdminPage } from '#/admin/admin-page.tsx'
import { HealthSentence } from '#/admin/health-sentence.tsx'
import { QueryError } from '#/admin/query-error.tsx'
import { useReport } from '#/admin/overview/use-report.ts'
import { Host, Launches } from '#/admin/system/launches-and-host.tsx'
import { Mail } from '#/admin/system/mail.tsx'
import { Nodes } from '#/admin/system/nodes.tsx'
import { Reconciler } from '#/admin/system/reconciler.tsx'

/** The page that operators open to find a fault. */
export function System() {
  const t = useTranslations('admin')
  const report = useReport()
  return (
    <AdminPage title={t('shell.system')}>
      <QueryError query={report} />
      <p role="status" className="health live">
        {report.data && <HealthSentence report={report.data} />}
      </p>
      {report.data && (
        <>
          {report.data.warnings.length > 0 && (
            <ul className="plain-list">
              {report.data.warnings.map((warning) => (
                <li key={warning}>{warning}</li>
              ))}
            </ul>
          )}
          <Nodes nodes={report.data.nodes} />
          <Reconciler report={report.data.reconciler} />
          <Launches report={report.data} />
          <Host host={report.data.host} />
          <Mail mail={report.data.mail} />
        </>
      )}
    </AdminPage>
  )
}
