import { useTranslations, useFormatter } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { AskForHelp } from '#/support-contact/ask-for-help.tsx'
import { Time } from '#/components/time.tsx'
import type { DiskEvent } from '@berth/api/schemas/container.ts'
import { diskUsageText } from '#/i18n/byte-sizes.ts'

interface CardNotesProps {
  entry: ContainerEntry
  hint: string | undefined
  /** Something more urgent needs the room of the last launch. */
  isShort: boolean
  /** The page says that everything is blocked, since when and whom to ask. */
  isBlockSaid: boolean
}

/** What is to be known of a container: that it is blocked, since when and whom to ask; else its last launch, and what its status means. */
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
      {/* First what is nearly always there: what comes and goes below it moves nothing. */}
      {lastUsed !== null && !isShort && <p className="hint">{t.rich('lastLaunched', timeAt(lastUsed))}</p>}
      {hint !== undefined && <p className="hint">{hint}</p>}
    </>
  )
}

const timeAt = (at: string) => ({ time: () => <Time at={at} /> })

/** That a home, or all of them, has nearly no room left; nothing when it has. */
export function DiskNote({ event }: { event: DiskEvent | undefined }) {
  const t = useTranslations('dashboard.disk')
  const format = useFormatter()
  if (!event) return null
  const { key, values } = diskUsageText(event, format.number)
  return <p className="note">{t(key, values)}</p>
}
