import { useTranslations } from 'use-intl/react'
import type { Choice } from '#/admin/table/toolbar.tsx'
import { yesOrNo } from '#/admin/table/yes-or-no.ts'
import { userStates } from './user-list.ts'

/** The filters of the page of users. */
export function useUserChoices(): readonly Choice[] {
  const t = useTranslations('admin.users')
  return [
    {
      name: 'state',
      label: t('filters.state'),
      options: [['', t('filters.anyState')], ...userStates.map((state) => [state, t(`states.${state}`)] as const)],
    },
    yesOrNo('is_admin', t('filters.role'), t('filters.anyRole'), t('filters.administrators'), t('filters.others')),
    yesOrNo('is_blocked', t('filters.access'), t('filters.anyAccess'), t('filters.blocked'), t('filters.notBlocked')),
  ]
}
