import type { AdminUser, UsersQuery } from '@berth/api/schemas/administration/admin.ts'
import type Type from 'typebox'
import type { UserState } from '@berth/api/schemas/user.ts'
import { dropCachedList, removeCachedRows, updateCachedRows, type Source } from '#/admin/list/use-rows.ts'
import type { ViewSpec } from '#/admin/list/view.ts'

export const userStates = ['registered', 'verified', 'active'] as const satisfies readonly UserState[]
const orders = ['email', '-email', 'last_used', '-last_used', 'created_at', '-created_at'] as const
const flags = ['true', 'false'] as const

type Query = Type.Static<typeof UsersQuery>

/** The query parameters of the page of users; the API takes each of them. */
export const usersView = {
  q: 254,
  state: userStates,
  is_admin: flags,
  is_blocked: flags,
  sort: orders,
} as const satisfies ViewSpec & Partial<Record<keyof Query, unknown>>

/** The API's list of users. A view holds only what `usersView` names, so it is a query of the API. */
export const userSource: Source<AdminUser> = {
  key: 'users',
  page: async (api, query) => {
    const { users, next_cursor } = await api.listUsers({ query: query as Query })
    return { rows: users, next: next_cursor }
  },
  count: async (api, filter) => (await api.countUsers({ query: filter as Query })).count,
}

/** Updates users in the cache from a response. */
export async function showUsers(users: readonly AdminUser[]): Promise<void> {
  const now = new Map(users.map((user) => [user.id, user]))
  dropCachedList('containers')
  await updateCachedRows<AdminUser>('users', now.keys(), (user) => now.get(user.id) ?? user)
}

export async function showUserGone(id: number): Promise<void> {
  dropCachedList('containers')
  await removeCachedRows('users', [id])
}
