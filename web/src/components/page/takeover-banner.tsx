import { useEffect, useEffectEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { boot, createApiClient } from '#/api/api-client.ts'
import { withRetry } from '#/api/retry.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { rich } from '#/components/rich.tsx'
import { isRefusedForGood } from '#/api/errors.ts'
import { useMe } from '#/session/use-me.ts'
import { useNow } from '#/time/use-now.ts'
import { useTask } from '#/components/use-task.ts'
import { endSessionAndRedirect } from '#/session/login-redirect.ts'
import { pages } from '#/paths.ts'
import { formatCountdown } from '#/time/countdown.ts'
import { minutesToAnnounce, secondsLeft } from '#/time/takeover-time.ts'

/**
 * On every page of an administrator who acts for a user in this browser: for whom, for how long, and a button that ends
 * the takeover.
 */
export function TakeoverBanner() {
  return boot.acting === null ? null : <Banner until={boot.acting.until} />
}

function Banner({ until }: { until: string }) {
  const t = useTranslations('takeover')
  const whom = useMe()?.email ?? t('anotherUser')
  const seconds = secondsLeft(until, useNow(), boot.clockAhead)
  const minutes = minutesToAnnounce(seconds)
  const { busy, error, run } = useTask()

  function end() {
    // A real navigation: the next document is the administrator's again.
    void run((signal) => endSessionAndRedirect(() => endTakeover(signal), pages.adminUsers))
  }
  const endInTime = useEffectEvent(end)
  const isOver = seconds === 0
  useEffect(() => void (isOver && endInTime()), [isOver])

  return (
    <section className="takeover" aria-label={t('label')}>
      <div className="takeover-inner">
        <p>
          {t.rich('acting', { whom, b: rich.address })}{' '}
          <span className="clock">{t('left', { time: formatCountdown(seconds) })}</span>
        </p>
        <Button variant="small" isOff={busy} onPress={end}>
          {busy ? t('ending') : t('end')}
        </Button>
        <Alert error={error} />
      </div>
      <p role="status" className="visually-hidden">
        {minutes !== undefined && t('minutesLeft', { minutes, whom })}
      </p>
    </section>
  )
}

/** Retries without a response: the takeover would otherwise end only with its time. */
async function endTakeover(signal: AbortSignal): Promise<void> {
  const api = createApiClient(signal)
  try {
    await withRetry(() => api.endTakeover(), signal)
  } catch (reason) {
    // It has ended already: by its time, by its owner, or in another tab.
    if (!isRefusedForGood(reason)) throw reason
  }
}
