import { useTranslations } from 'use-intl/react'
import { roundDuration } from '#/time/duration.ts'

/** Says how long something takes or lasts. @returns a function of seconds */
export function useDuration(): (seconds: number) => string {
  const t = useTranslations('signIn.duration')
  return (seconds) => {
    const { unit, count } = roundDuration(seconds)
    return t(unit, { count })
  }
}
