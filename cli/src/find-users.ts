import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { Client } from '@berth/api/client.ts'
import { CommandFailed } from './command-failure.ts'
import { pagesOf } from './paged-list.ts'

/** Page by page, oldest first. @param search part of e-mail or slug */
export async function* usersOf(api: Client, search?: string): AsyncGenerator<readonly AdminUser[]> {
  const filter = search ? { q: search } : {}
  for await (const { users } of pagesOf((page) => api.listUsers({ query: { ...page, ...filter } }))) yield users
}

/** @param target an id, or a whole e-mail address @throws {CommandFailed} when there is no such user */
export async function findUser(api: Client, target: string): Promise<AdminUser> {
  const user = /^\d{1,15}$/.test(target) ? await withId(api, Number(target)) : await withEmail(api, target)
  if (!user) throw new CommandFailed(`There is no user ${target}.`)
  return user
}

/** Query of a list for rows of one owner, or of all. @param target as in `findUser` @throws {CommandFailed} as `findUser` */
export const ownerQuery = async (api: Client, target: string | undefined): Promise<{ readonly user?: string }> =>
  target === undefined ? {} : { user: String((await findUser(api, target)).id) }

async function withId(api: Client, id: number): Promise<AdminUser | undefined> {
  const { users } = await api.listUsers({ query: { limit: '1', cursor: String(Math.max(0, id - 1)) } })
  return users.find((user) => user.id === id)
}

async function withEmail(api: Client, typed: string): Promise<AdminUser | undefined> {
  const email = typed.trim().toLowerCase()
  for await (const users of usersOf(api, email)) {
    const found = users.find((user) => user.email === email)
    if (found) return found
  }
  return undefined
}
