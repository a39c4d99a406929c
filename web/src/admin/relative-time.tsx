import { useSyncExternalStore } from 'react'
import { useFormatter, useTranslations } from 'use-intl/react'
import { serverNow } from '#/time/server-now.ts'

let now = serverNow()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all cells: a timer in each would be started and stopped with every row that scrolls by. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, 30_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

function tick(): void {
  now = serverNow()
  for (const listener of listeners) listener()
}

/** How long ago an instant (ISO 8601) was; the exact time on hover. Null is never. */
export function RelativeTime({ at }: { at: string | null }) {
  const t = useTranslations('admin.table')
  const format = useFormatter()
  const current = useSyncExternalStore(subscribe, () => now)
  if (at === null) return <span className="muted">{t('never')}</span>
  const date = new Date(at)
  return (
    <time
      dateTime={at}
      // Only on hover: formatting it for each row that scrolls by would double the row's cost.
      onPointerEnter={({ currentTarget }) =>
        (currentTarget.title = format.dateTime(date, { dateStyle: 'medium', timeStyle: 'short' }))
      }
    >
      {/* The clock ticks twice a minute; an instant since its last tick is not in the future. */}
      {format.relativeTime(date, Math.max(current, date.getTime()))}
    </time>
  )
}

/** The day of an instant, in the reader's time zone. */
export function Day({ at }: { at: string }) {
  const format = useFormatter()
  return <time dateTime={at}>{format.dateTime(new Date(at), { dateStyle: 'medium' })}</time>
}
