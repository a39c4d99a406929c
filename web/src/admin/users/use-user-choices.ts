import { useTranslations } from 'use-intl/react'
import type { Choice } from '#/admin/table/toolbar.tsx'
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
    {
      name: 'is_admin',
      label: t('filters.role'),
      options: [
        ['', t('filters.anyRole')],
        ['true', t('filters.administrators')],
        ['false', t('filters.others')],
      ],
    },
    {
      name: 'is_blocked',
      label: t('filters.access'),
      options: [
        ['', t('filters.anyAccess')],
        ['true', t('filters.blocked')],
        ['false', t('filters.notBlocked')],
      ],
    },
  ]
}
