import { useTranslations } from 'use-intl/react'
import { type Choice, useBlockedFilter, yesNoFilter } from '#/admin/list/toolbar.tsx'
import { userStates } from './user-list.ts'

/** The filters of the page of users. */
export function useUserChoices(): readonly Choice[] {
  const t = useTranslations('admin.users')
  const blockedFilter = useBlockedFilter()
  return [
    {
      name: 'state',
      label: t('filters.state'),
      options: [['', t('filters.anyState')], ...userStates.map((state) => [state, t(`states.${state}`)] as const)],
    },
    yesNoFilter('is_admin', t('filters.role'), t('filters.anyRole'), t('filters.administrators'), t('filters.others')),
    blockedFilter,
  ]
}
