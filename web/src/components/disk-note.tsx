import { useFormatter, useTranslations } from 'use-intl/react'
import type { DiskEvent } from '@berth/api/container.ts'
import { diskWords } from '#/disk-words.ts'

/** That a home, or all of them, has nearly no room left; nothing when it has. */
export function DiskNote({ event }: { event: DiskEvent | undefined }) {
  const t = useTranslations('dashboard.disk')
  const format = useFormatter()
  if (!event) return null
  const { key, values } = diskWords(event, format.number)
  return <p className="note">{t(key, values)}</p>
}
