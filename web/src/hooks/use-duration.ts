import { useTranslations } from 'use-intl/react'
import { spoken } from '#/duration.ts'

/** Says how long something takes or lasts. @returns a function of seconds */
export function useDuration(): (seconds: number) => string {
  const t = useTranslations('signIn.duration')
  return (seconds) => {
    const { unit, count } = spoken(seconds)
    return t(unit, { count })
  }
}
