import { useTranslations, useFormatter } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { AskForHelp } from '#/support-contact/ask-for-help.tsx'
import { Time } from '#/components/time.tsx'
import type { DiskEvent } from '@berth/api/schemas/container.ts'
import { diskUsageText } from '#/i18n/byte-sizes.ts'

interface CardNotesProps {
  entry: ContainerEntry
  hint: string | undefined
  /** A more urgent note needs the space of the last launch. */
  isShort: boolean
  /** The page says that the account is blocked, since when and whom to contact. */
  isBlockSaid: boolean
}

/**
 * Notes on a container: that it is blocked, since when and whom to contact; else its last launch and what its status
 * means.
 */
export function CardNotes({ entry, hint, isShort, isBlockSaid }: CardNotesProps) {
  const t = useTranslations('dashboard')
  const { is_blocked: isBlocked, blocked_at: blockedAt, last_used: lastUsed } = entry
  if (isBlocked && isBlockSaid) return null
  if (isBlocked) {
    return (
      <p className="note">
        {blockedAt === null ? t('blocked') : t.rich('blockedSince', timeAt(blockedAt))} <AskForHelp />
      </p>
    )
  }
  return (
    <>
      {entry.restart_requested && <p className="note">{t('restartRequested')}</p>}
      {/* First what is nearly always shown: notes that come and go below it move nothing. */}
      {lastUsed !== null && !isShort && <p className="hint">{t.rich('lastLaunched', timeAt(lastUsed))}</p>}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </>
  )
}

const timeAt = (at: string) => ({ time: () => <Time at={at} /> })

/** A warning that a home, or all homes together, has nearly no space left, or cannot be measured. */
export function DiskNote({ event }: { event: DiskEvent | undefined }) {
  const t = useTranslations('dashboard.disk')
  const format = useFormatter()
  if (!event) return null
  if (!event.measured) return <p className="note">{t('unmeasured')}</p>
  const { key, values } = diskUsageText(event, format.number)
  return <p className="note">{t(key, values)}</p>
}
