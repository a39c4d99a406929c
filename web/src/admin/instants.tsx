import { useMemo, useSyncExternalStore } from 'react'
import type { DateTimeFormatOptions } from 'use-intl'
import { useFormatter, useTranslations } from 'use-intl/react'
import { serverNow, useServerNow } from '#/time/time.tsx'

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

/** The hours from 0 to 23 in both languages: operators compare them with logs. */
const hourCycle = 'h23'

/** Formats instants in the reader's language and time zone. */
interface Instants {
  /** Such as `21 Nov 2026, 14:05`. */
  full(at: string): string
  /** Such as `14:05`. */
  time(at: string | Date): string
  /** Such as `Saturday, 21 November 2026`. */
  day(at: string): string
}

export function useInstants(): Instants {
  const format = useFormatter()
  return useMemo(() => {
    const write = (at: string | Date, options: DateTimeFormatOptions) =>
      format.dateTime(new Date(at), { ...options, hourCycle })
    return {
      full: (at) => write(at, { dateStyle: 'medium', timeStyle: 'short' }),
      time: (at) => write(at, { timeStyle: 'short' }),
      day: (at) => write(at, { dateStyle: 'full' }),
    }
  }, [format])
}

/** Such as `3 minutes ago`; updates with the clock. An instant in the future is now. */
export function useAgo(): (at: string) => string {
  const format = useFormatter()
  const now = useServerNow(10_000)
  return (at) => format.relativeTime(Math.min(Date.parse(at), now), now)
}
