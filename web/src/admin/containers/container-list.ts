import type {
  AdminContainer,
  ContainersQuery,
  ContainerStatus,
  ListedContainer,
} from '@berth/api/schemas/administration/admin.ts'
import type Type from 'typebox'
import { dropCachedList, removeCachedRows, updateCachedRows, type Source } from '#/admin/list/use-rows.ts'
import type { ViewSpec } from '#/admin/list/view.ts'
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

/** The query parameters of the page of containers; the API takes each of them. */
export const containersView = {
  q: 254,
  container_type: 64,
  status: containerStatuses,
  is_blocked: ['true', 'false'],
  sort: orders,
} as const satisfies ViewSpec & Partial<Record<keyof Query, unknown>>

/** The API's list of containers. A view holds only what `containersView` names, so it is a query of the API. */
export const containerSource: Source<ListedContainer> = {
  key: 'containers',
  page: async (api, query) => {
    const { containers, next_cursor } = await api.listAllContainers({ query: query as Query })
    return { rows: containers, next: next_cursor }
  },
  count: async (api, filter) => (await api.countContainers({ query: filter as Query })).count,
}

/** Updates containers in the cache from a response. */
export async function showContainers(containers: readonly AdminContainer[]): Promise<void> {
  const now = new Map(containers.map((container) => [container.id, container]))
  dropCachedList('users')
  await updateCachedRows<ListedContainer>('containers', now.keys(), (row) => blockedNow(row, now.get(row.id)))
}

/** The row after a stop. */
export async function showContainerStopped(id: number): Promise<void> {
  await updateCachedRows<ListedContainer>('containers', [id], (row) => ({ ...row, status: 'stopped' }))
}

export async function showContainerGone(id: number): Promise<void> {
  dropCachedList('users')
  await removeCachedRows('containers', [id])
}
