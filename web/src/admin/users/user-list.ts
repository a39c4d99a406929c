import type { AdminUser, UsersQuery } from '@berth/api/admin.ts'
import type Type from 'typebox'
import type { UserState } from '@berth/api/user.ts'
import type { Source } from '#/admin/table/use-rows.ts'
import { forget, showChanged, showGone } from '#/admin/table/changes.ts'
import type { ViewSpec } from '#/admin/table/view.ts'

export const userStates = ['registered', 'verified', 'active'] as const satisfies readonly UserState[]
const orders = ['email', '-email', 'last_used', '-last_used', 'created_at', '-created_at'] as const
const flags = ['true', 'false'] as const

type Query = Type.Static<typeof UsersQuery>

/** What may be in the address of the page of users; all of it is what the API takes. */
export const usersView = {
  q: 254,
  state: userStates,
  is_admin: flags,
  is_blocked: flags,
  sort: orders,
} as const satisfies ViewSpec & Partial<Record<keyof Query, unknown>>

/** Users as the API lists them. A view has nothing but what `usersView` names, so it is a query of the API. */
export const userSource: Source<AdminUser> = {
  key: 'users',
  page: async (api, query) => {
    const { users, next_cursor } = await api.listUsers({ query: query as Query })
    return { rows: users, next: next_cursor }
  },
  count: async (api, filter) => (await api.countUsers({ query: filter as Query })).count,
}

/** Shows users as an answer says they are now. */
export async function showUsers(users: readonly AdminUser[]): Promise<void> {
  const now = new Map(users.map((user) => [user.id, user]))
  forget('containers')
  await showChanged<AdminUser>('users', now.keys(), (user) => now.get(user.id) ?? user)
}

export async function showUserGone(id: number): Promise<void> {
  forget('containers')
  await showGone('users', [id])
}
