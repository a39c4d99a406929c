import type { AdminUser } from '@berth/api/schemas/administration/admin.ts'
import type { Client } from '@berth/api/client.ts'
import { byApi, type CommandSpec } from '#/command.ts'
import { forEach } from '#/for-each.ts'
import { findUser } from '#/find-users.ts'
import type { CommandContext } from '#/with-api.ts'
import { formatCount } from '#/formatting.ts'

interface DeleteOptions {
  readonly purge?: true
  readonly yes?: true
}

/** `berth users delete`. */
export const deleteUsersCommand: CommandSpec = {
  description: 'delete accounts and their containers',
  usage: (command) =>
    command
      .argument('<user...>', 'e-mail addresses or ids')
      .option('--purge', 'also delete their files, permanently')
      .option('--yes', 'do not ask for confirmation'),
  effect:
    'Running containers are stopped and removed, connections are closed. Files are kept for KEEP_HOMES seconds ' +
    'unless --purge is given. Asks for confirmation; without a terminal it needs --yes.',
  examples: [
    ['users delete ann@example.org', 'asks, then deletes Ann; her files are kept for KEEP_HOMES'],
    ['users delete 12 13 --purge --yes', 'deletes two users and their files without asking'],
  ],
  work: byApi(deleteUsers),
}

async function deleteUsers(
  context: CommandContext,
  api: Client,
  targets: readonly string[],
  options: DeleteOptions,
): Promise<void> {
  if (!options.yes) await ask(context, api, targets, options)
  const query = options.purge ? { purge: 'true' } : {}
  await forEach(context, targets, async (target) => {
    const { id, email } = await findUser(api, target)
    const { message } = await api.deleteUser({ params: { id: String(id) }, query })
    return { line: `${email}: ${message}`, value: { id, email, message } }
  })
}

async function ask(
  { terminal, signal }: CommandContext,
  api: Client,
  targets: readonly string[],
  options: DeleteOptions,
) {
  const users: AdminUser[] = []
  for (const target of new Set(targets)) users.push(await findUser(api, target))
  for (const { email, id, containers } of users)
    terminal.note(`  ${email} (id ${id}) with ${formatCount(containers.length, 'container')}`)
  const files = options.purge ? 'and all their files, for ever' : 'whose files are kept for a while'
  await terminal.confirm(`This deletes ${formatCount(users.length, 'account')}, ${files}.`, '--yes', signal)
}
