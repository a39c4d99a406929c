import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from '#/components/button.tsx'
import { formatCountdown, secondsUntil } from '#/time/countdown.ts'
import { useEvents } from '#/events/use-events.ts'
import { useNow } from '#/time/use-now.ts'
import type { IdleWarning } from '#/events/event-reducer.ts'

interface IdleNoteProps {
  warning: IdleWarning
  isOff: boolean
  describedBy: string | undefined
  onKeep(): void
}

/** The countdown to a suspension; where the container is idle, with a button that keeps it running. */
export function IdleNote({ warning: { action, at, reason }, isOff, describedBy, onKeep }: IdleNoteProps) {
  const t = useTranslations('dashboard.idle')
  const { clockAhead } = useEvents()
  const left = secondsUntil(at, useNow(), clockAhead)
  const words = reason ?? action
  return (
    <div className="note idle-note">
      <p>{left > 0 ? t(words, { time: formatCountdown(left) }) : t(`${words}Now`)}</p>
      {reason === undefined && (
        <Button isOff={isOff} describedBy={describedBy} onPress={onKeep}>
          {t('keep')}
        </Button>
      )}
    </div>
  )
}

interface AnnouncementProps {
  name: string
  warning: IdleWarning | undefined
}

/** Announces each warning once to screen readers, and not each second. */
export function IdleAnnouncement({ name, warning }: AnnouncementProps) {
  return (
    <p aria-live="polite" className="visually-hidden">
      {warning && <Said key={warning.at} name={name} warning={warning} />}
    </p>
  )
}

function Said({ name, warning: { action, at, reason } }: { name: string; warning: IdleWarning }) {
  const t = useTranslations('dashboard.idle')
  const { clockAhead } = useEvents()
  const [seconds] = useState(() => secondsUntil(at, Date.now(), clockAhead))
  return t(reason === undefined ? 'announcement' : 'lifetimeAnnouncement', { name, action, seconds })
}
