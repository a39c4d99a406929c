import { useTranslations } from 'use-intl/react'
import { useTypes } from '#/containers/use-types.ts'
import { type Choice, useBlockedFilter } from '#/admin/list/toolbar.tsx'
import { useTypeName } from '#/components/type-name.tsx'
import { containerStatuses } from './container-list.ts'

/**
 * The filters of the page of containers. The types come from the administrator's own containers: the list has an entry
 * for each configured type.
 * @param chosen stays a choice even if the type no longer exists
 */
export function useContainerChoices(chosen: string | undefined): readonly Choice[] {
  const t = useTranslations('admin.containers')
  const blockedFilter = useBlockedFilter()
  const { data } = useTypes()
  const nameOf = useTypeName()
  const types = [...new Set([...(data ?? []).map(({ type }) => type), ...(chosen === undefined ? [] : [chosen])])]
  return [
    {
      name: 'container_type',
      label: t('filters.type'),
      options: [['', t('filters.anyType')], ...types.map((type) => [type, nameOf(type)] as const)],
    },
    {
      name: 'status',
      label: t('filters.status'),
      options: [
        ['', t('filters.anyStatus')],
        ...containerStatuses.map((status) => [status, t(`statuses.${status}`)] as const),
      ],
    },
    blockedFilter,
  ]
}
