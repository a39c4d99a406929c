import { useTranslations } from 'use-intl/react'

/** A rounded length of time. */
interface RoundedDuration {
  readonly unit: 'minutes' | 'hours' | 'days'
  /** Whole, 1 and more. */
  readonly count: number
}

/** Rounds down to the largest unit that is exact or nearly so. @param seconds at least 1 */
export function roundDuration(seconds: number): RoundedDuration {
  if (seconds >= 2 * 86_400) return { unit: 'days', count: Math.floor(seconds / 86_400) }
  if (seconds >= 2 * 3600) return { unit: 'hours', count: Math.floor(seconds / 3600) }
  return { unit: 'minutes', count: Math.max(1, Math.floor(seconds / 60)) }
}

/** Formats how long something takes or lasts. @returns a function of seconds */
export function useDuration(): (seconds: number) => string {
  const t = useTranslations('signIn.duration')
  return (seconds) => {
    const { unit, count } = roundDuration(seconds)
    return t(unit, { count })
  }
}
