import type { AdminShare } from '@berth/api/schemas/features/sharing.ts'
import type { Client } from '@berth/api/client.ts'
import { listByApi, pagesOf, removeByApi, defineCommand, type CommandGroup } from '#/command.ts'
import { ownerQuery } from '#/find-users.ts'
import { formatInstant } from '#/terminal.ts'

/** `berth shares ...`: containers that their owners share with others. */
export const sharesCommands: CommandGroup = {
  description: 'shared containers: list shares and end them',
  commands: () => ({ list, end }),
}

const list = defineCommand({
  description: 'list shares that have not ended',
  usage: (command) => command.option('--user <user>', 'only shares of the owner with this e-mail address or id'),
  effect: 'Read-only. With --json each share is one line of JSON.',
  examples: [
    ['shares list', 'who shares which container with whom, and until when'],
    ['shares list --user ann@example.org --json', 'what Ann shares, for a program'],
  ],
  work: listByApi(sharesOf, {
    headings: ['ID', 'OWNER', 'TYPE', 'WITH', 'MAY', 'ENDS'],
    rowOf: ({ id, owner, container_type, port, email, group, may, expires_at }: AdminShare) => [
      String(id),
      owner.email,
      port === null ? container_type : `${container_type}:${port}`,
      email ?? `group ${group?.name ?? ''}`,
      may,
      formatInstant(expires_at),
    ],
  }),
})

async function* sharesOf(api: Client, { user }: { user?: string }): AsyncGenerator<readonly AdminShare[]> {
  const owner = await ownerQuery(api, user)
  for await (const { shares } of pagesOf((page) => api.listAllShares({ query: { ...page, ...owner } }))) yield shares
}

const end = defineCommand({
  description: 'end shares of any user',
  usage: (command) => command.argument('<id...>', 'ids of shares, as "berth shares list" shows them'),
  effect: 'What visitors have open by it is closed. The container runs on, and its owner can share it again.',
  examples: [
    ['shares end 7', 'one share'],
    ['shares end 7 8 9', 'three shares'],
  ],
  work: removeByApi((api, id) => api.revokeShare({ params: { id } })),
})
