import type { DiskEvent } from '@berth/api/container.ts'
import { shareInWords, shareOf, type WriteNumber } from '#/sizes.ts'

/** A limit that is nearly used up: which sentence of `dashboard.disk` says it, and with what. */
export function diskWords({ type, used, limit }: DiskEvent, write: WriteNumber) {
  const key = type === null ? ('all' as const) : ('one' as const)
  return { key, values: shareInWords(shareOf(used, limit, 'binary'), write) }
}
