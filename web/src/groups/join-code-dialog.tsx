import { useEffect, useRef, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Dialog } from '#/components/dialog.tsx'
import { rich } from '#/components/rich.tsx'
import { Time } from '#/components/time.tsx'
import { useTask } from '#/components/use-task.ts'
import { pages } from '#/paths.ts'
import { QrCode } from './qr-code.tsx'

/** The join code of a group. The server keeps its hash alone, so it is shown once, large enough for a projector. */
export function JoinCodeDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useTranslations('groups.code')
  const { busy, error, run } = useTask()
  const [made, setMade] = useState<{ code: string; expires_at: string }>()
  const [isRemoved, setRemoved] = useState(false)
  const params = { id }
  const closing = useRef<HTMLButtonElement>(null)
  // The key that made a code must not replace it while the class enters it.
  useEffect(() => {
    if (made) closing.current?.focus()
  }, [made])

  function make() {
    setRemoved(false)
    void run(async (signal) => setMade(await createApiClient(signal).createJoinCode({ params })))
  }
  function remove() {
    void run(async (signal) => {
      await createApiClient(signal).deleteJoinCode({ params })
      setMade(undefined)
      setRemoved(true)
    })
  }
  const address = made && `${location.origin}${pages.groups}?code=${made.code}`
  return (
    <Dialog title={t('title')} variant="wide" onClose={onClose}>
      {(close) => (
        <>
          <p className="hint">{t('lead')}</p>
          <div role="status" className="join-code-view">
            {made && (
              <>
                <div>
                  <p className="join-code">{made.code}</p>
                  <p className="hint">{t.rich('ends', { at: rich.inPlace(<Time at={made.expires_at} />) })}</p>
                </div>
                {address && <QrCode text={address} label={t('qr')} />}
              </>
            )}
            {isRemoved && <p>{t('removed')}</p>}
          </div>
          {address && (
            <p className="hint">
              <a className="path" href={address}>
                {t('link')}
              </a>{' '}
              {t('once')}
            </p>
          )}
          <Alert error={error} />
          <div className="actions end">
            {/* A code that the class is entering must not end by a press that was meant for the next one. */}
            <Button ref={closing} variant={made && 'primary'} onPress={close}>
              {t('close')}
            </Button>
            <Button isOff={busy} onPress={remove}>
              {t('remove')}
            </Button>
            <Button variant={made ? undefined : 'primary'} isOff={busy} onPress={make}>
              {busy ? t('busy') : t('make')}
            </Button>
          </div>
        </>
      )}
    </Dialog>
  )
}
