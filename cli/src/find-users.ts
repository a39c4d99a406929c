import os from 'node:os'
import type { Client } from '@berth/api/client.ts'
import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { Group } from '@berth/api/schemas/groups.ts'
import { CommandFailed } from './command-failure.ts'
import { pagesOf } from './command.ts'

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

/** Of the operating system, which the command line runs as. */
export function accountName(): string {
  try {
    return os.userInfo().username
  } catch {
    // In a container the user id may have no name.
    return `uid ${process.getuid?.() ?? ''}`.trim()
  }
}

/** What Node says when the account has no right to a file or folder; for sockets it has other words. */
const isForbiddenFile = /EACCES: permission denied, \w+ '/

/**
 * Names the account in a message about a file that it may not use. The package runs the command line of root as the account of
 * the service, which may not enter the home folder of root.
 */
export function withAccount(message: string): string {
  if (!isForbiddenFile.test(message)) return message
  return `${message.replace(/\.$/, '')}. This ran as the account ${accountName()}: put the file where that account may read or write it.`
}

/** Page by page, oldest first. @param search part of the name */
export async function* groupsOf(api: Client, search?: string): AsyncGenerator<readonly Group[]> {
  const filter = search ? { q: search } : {}
  for await (const { groups } of pagesOf((page) => api.listGroups({ query: { ...page, ...filter } }))) yield groups
}

/** @param target a whole name, or an id @throws {CommandFailed} when there is no such group */
export async function findGroup(api: Client, target: string): Promise<Group> {
  for await (const groups of groupsOf(api, target)) {
    const found = groups.find(({ name }) => name === target)
    if (found) return found
  }
  if (!/^\d{1,15}$/.test(target)) throw new CommandFailed(`There is no group ${target}.`)
  return (await api.readGroup({ params: { id: target } })).group
}
