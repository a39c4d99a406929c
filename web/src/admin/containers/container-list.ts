import type { AdminContainer, ContainersQuery, ContainerStatus, ListedContainer } from '@berth/api/admin.ts'
import type Type from 'typebox'
import { forget, showChanged, showGone } from '#/admin/table/changes.ts'
import type { Source } from '#/admin/table/use-rows.ts'
import type { ViewSpec } from '#/admin/table/view.ts'
import { blockedNow } from './container-actions.ts'

export const containerStatuses = [
  'running',
  'paused',
  'stopped',
  'missing',
  'failed',
  'unknown',
] as const satisfies readonly ContainerStatus[]
const orders = ['email', '-email', 'last_used', '-last_used', 'created_at', '-created_at'] as const

type Query = Type.Static<typeof ContainersQuery>

/** What may be in the address of the page of containers; all of it is what the API takes. */
export const containersView = {
  q: 254,
  container_type: 64,
  status: containerStatuses,
  is_blocked: ['true', 'false'],
  sort: orders,
} as const satisfies ViewSpec & Partial<Record<keyof Query, unknown>>

/** Containers as the API lists them. A view has nothing but what `containersView` names, so it is a query of the API. */
export const containerSource: Source<ListedContainer> = {
  key: 'containers',
  page: async (api, query) => {
    const { containers, next_cursor } = await api.listAllContainers({ query: query as Query })
    return { rows: containers, next: next_cursor }
  },
  count: async (api, filter) => (await api.countContainers({ query: filter as Query })).count,
}

/** Shows containers as an answer says they are now. */
export async function showContainers(containers: readonly AdminContainer[]): Promise<void> {
  const now = new Map(containers.map((container) => [container.id, container]))
  forget('users')
  await showChanged<ListedContainer>('containers', now.keys(), (row) => blockedNow(row, now.get(row.id)))
}

export async function showContainerGone(id: number): Promise<void> {
  forget('users')
  await showGone('containers', [id])
}
