import { useTranslations } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/user.ts'
import { Ask } from '#/components/ask.tsx'
import { Time } from '#/components/time.tsx'
import type { StatusHint } from '#/container-status.ts'

interface CardNotesProps {
  entry: ContainerEntry
  hint: StatusHint | 'patience' | undefined
}

/** What is to be known of a container: that it is blocked, since when and whom to ask; else what its status means, and its last launch. */
export function CardNotes({ entry, hint }: CardNotesProps) {
  const t = useTranslations('dashboard')
  const { is_blocked: isBlocked, blocked_at: blockedAt, last_used: lastUsed } = entry
  if (isBlocked) {
    return (
      <p className="note">
        {blockedAt === null ? t('blocked') : t.rich('blockedSince', timeAt(blockedAt))} <Ask />
      </p>
    )
  }
  return (
    <>
      {hint !== undefined && <p className="hint">{t(`hint.${hint}`)}</p>}
      {lastUsed !== null && <p className="hint">{t.rich('lastLaunched', timeAt(lastUsed))}</p>}
    </>
  )
}

const timeAt = (at: string) => ({ time: () => <Time at={at} /> })
