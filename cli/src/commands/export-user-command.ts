import path from 'node:path'
import type { Client } from '@berth/api/client.ts'
import { byApi, type CommandSpec } from '#/command.ts'
import { findUser } from '#/find-users.ts'
import type { CommandContext } from '#/with-api.ts'
import { writeNewFile } from '#/write-file.ts'

interface ExportOptions {
  readonly output?: string
}

/** `berth users export`. */
export const exportUserCommand: CommandSpec = {
  description: 'export everything that is kept about a user, as JSON',
  usage: (command) =>
    command
      .argument('<user>', 'e-mail address or id')
      .option('--output <file>', 'write a new file, readable by its owner only, in place of standard output'),
  effect:
    'Read-only, except for an entry of the audit log. Without secrets, tokens and files of containers. The format ' +
    'is that of GET /api/user/data, which users get of themselves on the page Your data.',
  examples: [
    ['users export ann@example.org --output ann.json', 'for a request of Ann for her data'],
    ['users export 12 | jq .sessions', 'sessions of the user with the id 12'],
  ],
  work: byApi(exportUser),
}

async function exportUser(
  { terminal, folder, signal }: CommandContext,
  api: Client,
  target: string,
  { output }: ExportOptions,
): Promise<void> {
  const { id, email } = await findUser(api, target)
  const data = await api.exportUserData({ params: { id: String(id) } })
  const text = `${JSON.stringify(data, null, 2)}\n`
  if (output === undefined) return terminal.write(text)
  await writeNewFile(path.resolve(folder, output), output, () => once(text), signal)
  terminal.note(`What is kept about ${email} is in ${output}.`)
}

async function* once(text: string): AsyncGenerator<string> {
  yield text
}
