import type { DiskEvent } from '@berth/api/schemas/container.ts'
import { formatShare, shareOf, type WriteNumber } from '#/i18n/byte-sizes.ts'

/** A limit that is nearly used up: which sentence of `dashboard.disk` says it, and with what. */
export function diskUsageText({ type, used, limit }: DiskEvent, write: WriteNumber) {
  const key = type === null ? ('all' as const) : ('one' as const)
  return { key, values: formatShare(shareOf(used, limit, 'binary'), write) }
}
