import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { requestMagicLink } from '#/session/request-magic-link.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { useDuration } from '#/time/duration.ts'
import { useNow } from '#/time/use-now.ts'
import { useTask } from '#/components/use-task.ts'
import { linksLeftAt, secondsToWait, type MagicLinkRequest } from '#/session/magic-link-request.ts'
import { replaceHistoryState } from '#/router/router.ts'

/** Sends the same mail again, after a delay, and says how many more there are. */
export function ResendMagicLink({ request }: { request: MagicLinkRequest }) {
  const t = useTranslations('signIn.check')
  const { busy, error, run } = useTask()
  const [isSent, setSent] = useState(false)
  const now = useNow()
  const wait = secondsToWait(request, now)
  const left = linksLeftAt(request, now)

  function again() {
    setSent(false)
    void run(async (signal) => {
      // In the history entry, so that a reload keeps it. A refusal for the limit starts the delay as well.
      replaceHistoryState(
        await requestMagicLink(request.email, signal, { isTypedHere: false, onLimit: replaceHistoryState }),
      )
      setSent(true)
    })
  }

  return (
    <>
      <Alert error={error} />
      <p role="status" className="live">
        {isSent && t('sentAgain')}
      </p>
      <div className="actions with-hint">
        <Button isOff={busy || wait > 0} onPress={again}>
          <Again wait={busy ? 0 : wait} />
        </Button>
        {left !== undefined && <p className="hint">{t('left', { left })}</p>}
      </div>
    </>
  )
}

function Again({ wait }: { wait: number }) {
  const t = useTranslations('signIn.check')
  const durationOf = useDuration()
  if (wait > 90) return t('inMinutes', { time: durationOf(Math.ceil(wait / 60) * 60) })
  return wait > 0 ? t('inSeconds', { seconds: wait }) : t('again')
}
