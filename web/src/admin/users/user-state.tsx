import { useTranslations } from 'use-intl/react'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'

/**
 * The state of an account in a word, with its meaning on hover. A block comes first: "blocked" beside "active" would be
 * a contradiction.
 */
export function UserState({ user }: { user: Pick<AdminUser, 'state' | 'is_admin' | 'is_blocked'> }) {
  const t = useTranslations('admin.users')
  const { state, is_admin, is_blocked } = user
  const word = is_blocked ? (
    <span className="tag bad" title={t('stateMeanings.blocked')}>
      {t('badges.blocked')}
    </span>
  ) : (
    <span className={state === 'active' ? 'state' : 'state muted'} title={t(`stateMeanings.${state}`)}>
      {t(`states.${state}`)}
    </span>
  )
  if (!is_admin) return word
  return (
    <span className="tags">
      {word}
      <span className="tag busy">{t('badges.administrator')}</span>
    </span>
  )
}
