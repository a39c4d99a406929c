import { useFormatter } from 'use-intl/react'
import { shareOf } from '#/i18n/regional-formats.ts'

/** Writes bytes in the reader's language: `48 MB`. */
export function useSize(): (bytes: number) => string {
  const format = useFormatter()
  return (bytes) => {
    const { part, unit, digits } = shareOf(bytes, bytes, 'decimal')
    return `${format.number(part, { maximumFractionDigits: digits })} ${unit}`
  }
}
