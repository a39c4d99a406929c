import type { TakeoverEvent } from '@berth/api/schemas/container.ts'
import { useFormatter, useTranslations } from 'use-intl/react'
import { Link } from '#/components/link.tsx'
import { rich } from '#/components/rich.tsx'
import { secondsUntil } from '#/time/countdown.ts'
import { useEvents } from '#/events/use-events.ts'
import { useNow } from '#/time/use-now.ts'
import { pages } from '#/paths.ts'

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
