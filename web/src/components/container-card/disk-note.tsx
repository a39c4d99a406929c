import { useFormatter, useTranslations } from 'use-intl/react'
import type { DiskEvent } from '@berth/api/schemas/container.ts'
import { diskUsageText } from '#/containers/disk-usage-text.ts'

/** That a home, or all of them, has nearly no room left; nothing when it has. */
export function DiskNote({ event }: { event: DiskEvent | undefined }) {
  const t = useTranslations('dashboard.disk')
  const format = useFormatter()
  if (!event) return null
  const { key, values } = diskUsageText(event, format.number)
  return <p className="note">{t(key, values)}</p>
}
