import { useTranslations } from 'use-intl/react'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { AskForHelp } from '#/support-contact/ask-for-help.tsx'
import { Time } from '#/components/time.tsx'

/** Says once for the whole page that the account is blocked, since when, and whom to contact. */
export function BlockedNote({ containers = [] }: { containers: readonly ContainerEntry[] | undefined }) {
  const t = useTranslations('dashboard')
  // The block of the account cascaded to its containers; those blocked separately were blocked earlier.
  const since = containers
    .map(({ blocked_at: at }) => at)
    .filter((at) => at !== null)
    .toSorted()
    .at(-1)
  return (
    <p className="note" role="status">
      {since === undefined ? t('accountBlocked') : t.rich('accountBlockedSince', timeAt(since))} <AskForHelp />
    </p>
  )
}

const timeAt = (at: string) => ({ time: () => <Time at={at} /> })
