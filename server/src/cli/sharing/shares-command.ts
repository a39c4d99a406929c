import type { Client } from '@berth/api/client.ts'
import type { AdminShare } from '@berth/api/schemas/features/sharing.ts'
import type { Command } from 'commander'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { findUser } from '#/cli/find-users.ts'
import { actionForEach } from '#/cli/for-each.ts'
import { formatInstant } from '#/cli/output/formatting.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'
import { pagesOf, printPages } from '#/cli/output/paged-list.ts'

/** `berth shares ...`: containers that their owners share with others. */
export function addShares(program: Command, run: Run): void {
  const shares = program.command('shares').description('shared containers: list shares and end them')
  addList(shares, run)
  addEnd(shares, run)
}

function addList(shares: Command, run: Run): void {
  const list = shares
    .command('list')
    .description('list shares that have not ended')
    .option('--user <user>', 'only shares of the owner with this e-mail address or id')
    .action((options: { user?: string }) =>
      run((context) => withApi(context, (api) => listShares(context, api, options))),
    )
  addHelp(list, {
    effect: 'Read-only. With --json each share is one line of JSON.',
    examples: [
      ['shares list', 'who shares which container with whom, and until when'],
      ['shares list --user ann@example.org --json', 'what Ann shares, for a program'],
    ],
  })
}

async function listShares({ terminal }: CommandContext, api: Client, { user }: { user?: string }): Promise<void> {
  const owner = user === undefined ? {} : { user: String((await findUser(api, user)).id) }
  await printPages(terminal, sharesOf(api, owner), { headings, rowOf })
}

async function* sharesOf(api: Client, owner: { user?: string }): AsyncGenerator<readonly AdminShare[]> {
  for await (const { shares } of pagesOf((page) => api.listAllShares({ query: { ...page, ...owner } }))) yield shares
}

const headings = ['ID', 'OWNER', 'TYPE', 'WITH', 'MAY', 'ENDS']

const rowOf = ({ id, owner, container_type, email, group, may, expires_at }: AdminShare) => [
  String(id),
  owner.email,
  container_type,
  email ?? `group ${group?.name ?? ''}`,
  may,
  formatInstant(expires_at),
]

function addEnd(shares: Command, run: Run): void {
  const end = shares
    .command('end')
    .description('end shares of any user')
    .argument('<id...>', 'ids of shares, as "berth shares list" shows them')
    .action(
      actionForEach(run, async (api, id) => {
        const { message } = await api.revokeShare({ params: { id } })
        return { line: `${id}: ${message}`, value: { id: Number(id), message } }
      }),
    )
  addHelp(end, {
    effect: 'What visitors have open by it is closed. The container runs on, and its owner can share it again.',
    examples: [
      ['shares end 7', 'one share'],
      ['shares end 7 8 9', 'three shares'],
    ],
  })
}
