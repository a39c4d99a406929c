import { useQuery } from '@tanstack/react-query'
import { useTranslations } from 'use-intl/react'
import { createApiClient } from '#/api/api-client.ts'
import { type Choice, useBlockedFilter } from '#/admin/list/toolbar.tsx'
import { containerStatuses } from './container-list.ts'

/**
 * The filters of the page of containers. The types come from the administrator's own containers: the list has an entry
 * for each configured type.
 * @param chosen stays a choice even if the type no longer exists
 */
export function useContainerChoices(chosen: string | undefined): readonly Choice[] {
  const t = useTranslations('admin.containers')
  const blockedFilter = useBlockedFilter()
  const { data } = useQuery({
    queryKey: ['container-types'],
    queryFn: async ({ signal }) => (await createApiClient(signal).listContainers()).containers.map(({ type }) => type),
    staleTime: 600_000,
  })
  const types = [...new Set([...(data ?? []), ...(chosen === undefined ? [] : [chosen])])]
  return [
    {
      name: 'container_type',
      label: t('filters.type'),
      options: [['', t('filters.anyType')], ...types.map((type) => [type, type] as const)],
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
