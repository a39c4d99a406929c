import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/admin.ts'

/** Where an account stands, and what is special about it, each in a word. */
export function UserState({ user: { state, is_admin, is_blocked } }: { user: AdminUser }) {
  const t = useTranslations('admin.users')
  const word = <span className={state === 'active' ? 'state' : 'state quiet'}>{t(`states.${state}`)}</span>
  if (!is_admin && !is_blocked) return word
  return (
    <span className="tags">
      {is_blocked && <span className="tag bad">{t('badges.blocked')}</span>}
      {word}
      {is_admin && <span className="tag busy">{t('badges.administrator')}</span>}
    </span>
  )
}
