import type { Client } from '@berth/api/client.ts'
import type { Group } from '@berth/api/schemas/groups.ts'
import { CommandFailed } from '#/command-failure.ts'
import { pagesOf } from '#/paged-list.ts'

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
