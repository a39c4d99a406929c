import { useEffect, useEffectEvent } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import type { TakeoverEvent } from '@berth/api/schemas/container.ts'
import { boot, createApiClient } from '#/api/api-client.ts'
import { isRefusedForGood } from '#/api/errors.ts'
import { withRetry } from '#/api/retry.ts'
import { Alert } from '#/components/alert.tsx'
import { Button } from '#/components/button.tsx'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { useTask } from '#/components/use-task.ts'
import { useEvents } from '#/events/use-events.ts'
import { pages } from '#/paths.ts'
import { endSessionAndRedirect } from '#/session/login-redirect.ts'
import { useMe } from '#/session/use-me.ts'
import { formatCountdown, minutesToAnnounce, secondsLeft, secondsUntil } from '#/time/countdown.ts'
import { useNow } from '#/time/time.tsx'

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

/**
 * Tells the user who acts for them, why, and until when; nothing after that time. The element is always rendered, so
 * that its text is announced.
 */
export function TakeoverNote({ event }: { event: TakeoverEvent | undefined }) {
  const t = useTranslations('takeover')
  const format = useFormatter()
  const { clockAhead } = useEvents()
  const isOn = secondsUntil(event?.until ?? '', useNow(event !== undefined), clockAhead) > 0
  return (
    <div role="status" className="live">
      {event && isOn && (
        <p className="note">
          {t.rich('note', {
            by: event.by,
            reason: event.reason,
            until: format.dateTime(new Date(event.until), { timeStyle: 'short' }),
            b: rich.address,
          })}{' '}
          <Link to={pages.sessions}>{t('noteLink')}</Link>
        </p>
      )}
    </div>
  )
}
