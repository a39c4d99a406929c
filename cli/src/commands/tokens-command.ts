import type { AdminApiToken } from '@berth/api/schemas/api-tokens.ts'
import { isScope, scopes as allScopes, type Scope } from '@berth/api/scopes.ts'
import type { Client } from '@berth/api/client.ts'
import { listByApi, pagesOf, removeByApi, defineCommand, type CommandGroup } from '#/command.ts'
import { ownerQuery } from '#/find-users.ts'
import { WrongUsage } from '#/command-failure.ts'
import { formatInstant } from '#/terminal.ts'

/** `berth tokens ...`: API tokens of all users. */
export const tokensCommands: CommandGroup = {
  description: 'API tokens: list, create and remove them',
  commands: () => ({ list, create, remove }),
}

const list = defineCommand({
  description: 'list API tokens, newest first',
  usage: (command) => command.option('--user <user>', 'only tokens of the user with this e-mail address or id'),
  effect: 'Read-only. Shows no token: only hashes are stored. With --json each token is one line of JSON.',
  examples: [
    ['tokens list', 'all API tokens with their owners'],
    ['tokens list --user ann@example.org --json', 'tokens of Ann, for a program'],
  ],
  work: listByApi(tokensOf, {
    headings: ['ID', 'OWNER', 'NAME', 'SCOPES', 'VALID UNTIL', 'LAST USED'],
    rowOf: ({ id, user, name, scopes, expires_at, last_used }: AdminApiToken) => [
      String(id),
      user.email,
      name,
      scopes.join(' '),
      formatInstant(expires_at),
      formatInstant(last_used),
    ],
  }),
})

async function* tokensOf(api: Client, { user }: { user?: string }): AsyncGenerator<readonly AdminApiToken[]> {
  const owner = await ownerQuery(api, user)
  for await (const { tokens } of pagesOf((page) => api.listAllApiTokens({ query: { ...page, ...owner } }))) yield tokens
}

const create = defineCommand({
  description: 'create an API token for an account and print it',
  usage: (command) =>
    command
      .argument('<email>', 'address of the account that programs with the token act for')
      .requiredOption('--name <name>', 'what the token is for')
      .requiredOption('--scope <scope...>', `one or more of ${allScopes.join(', ')}`)
      .option('--days <days>', 'days that it is valid for, at most 365', '30'),
  effect:
    'Prints the token once; only its hash is stored. The owner sees and can remove it. Scopes that begin with ' +
    'admin need an administrator. The audit log records that it was created, not the token.',
  examples: [
    ['tokens create me@example.org --name backup --scope containers:read', 'valid for 30 days'],
    [
      'tokens create me@example.org --name ci --scope containers:write --days 90 > ci-token',
      'kept in a file; the rest of the output goes to stderr',
    ],
  ],
  api: async ({ terminal }, api, email, { name, scope, days }) => {
    const body = { email, name, scopes: readScopes(scope), expires_in: readDays(days) * 86_400 }
    const created = await api.createApiTokenFor({ body })
    terminal.json(created)
    terminal.print(created.token)
    terminal.note(`API token ${created.id} of ${email}, valid until ${formatInstant(created.expires_at)} UTC.`)
  },
})

/** @throws {WrongUsage} for a word that is no scope */
function readScopes(words: readonly string[]): Scope[] {
  return words.map((word) => {
    if (!isScope(word)) throw new WrongUsage(`${word} is not a scope. Scopes: ${allScopes.join(', ')}.`)
    return word
  })
}

/** @throws {WrongUsage} outside 1 to 365 */
function readDays(text: string): number {
  const days = Number(text)
  if (!/^\d{1,3}$/.test(text) || days < 1 || days > 365)
    throw new WrongUsage('--days must be a whole number from 1 to 365.')
  return days
}

const remove = defineCommand({
  description: 'remove API tokens of any user',
  usage: (command) => command.argument('<id...>', 'ids of tokens, as "berth tokens list" shows them'),
  effect: 'Programs that use them are refused from their next request on. Containers are not affected.',
  examples: [
    ['tokens remove 7', 'one token'],
    ['tokens remove 7 8 9', 'three tokens'],
  ],
  work: removeByApi((api, id) => api.revokeApiToken({ params: { id } })),
})
