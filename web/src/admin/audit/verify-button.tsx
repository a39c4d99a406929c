import { useState } from 'react'
import type { AuditVerdict } from '@berth/api/schemas/administration/audit.ts'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useTask } from '#/components/use-task.ts'

/** Verifies the whole audit chain, and says whether the log is unchanged. */
export function VerifyButton() {
  const t = useTranslations('admin.audit.verify')
  const { busy, error, run } = useTask()
  const [verdict, setVerdict] = useState<AuditVerdict>()

  function verify() {
    setVerdict(undefined)
    void run(async (signal) => setVerdict(await createApiClient(signal).verifyAudit({ query: {} })))
  }

  return (
    <div className="verify">
      <Button variant="small" isOff={busy} onPress={verify}>
        {busy ? t('busy') : t('start')}
      </Button>
      <div role="status" className="live">
        {verdict && <Verdict verdict={verdict} />}
      </div>
      <Alert error={error} />
    </div>
  )
}

function Verdict({ verdict: { entries, head, first_broken: broken } }: { verdict: AuditVerdict }) {
  const t = useTranslations('admin.audit.verify')
  if (broken)
    return (
      <p className="alert">
        {t(`broken.${broken.what}`, { id: String(broken.id) })} {t('brokenAfter')}
      </p>
    )
  return (
    <div className="note verdict">
      <p>{t('whole', { entries })}</p>
      {entries > 0 && (
        <>
          <p>{t('keep')}</p>
          <p>
            <code className="path">{`--entries ${entries} --head ${head}`}</code>
          </p>
        </>
      )}
    </div>
  )
}
