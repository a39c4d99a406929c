import type { Client } from '@berth/api/client.ts'
import type { Group } from '@berth/api/schemas/groups.ts'
import { CommandFailed } from '../command-failure.ts'

/** Groups per request. */
const page = '500'

/** Page by page, oldest first. @param search part of the name */
export async function* groupsOf(api: Client, search?: string): AsyncGenerator<readonly Group[]> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const query = { limit: page, ...(cursor === undefined ? {} : { cursor }), ...(search ? { q: search } : {}) }
    const { groups, next_cursor } = await api.listGroups({ query })
    yield groups
    cursor = next_cursor
  }
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
