import type { Command } from 'commander'
import type { Client } from '@berth/api/client.ts'
import { addCommands, byApi, type CommandSpec } from '#/command.ts'
import type { Run } from '#/help.ts'
import type { CommandContext } from '#/with-api.ts'
import { tryCommand } from '#/try/try-command.ts'
import { catalogueCommand } from './catalogue-command.ts'
import { checkCommand } from './check-templates.ts'

/** `berth templates ...`: container templates. */
export function addTemplates(program: Command, run: Run): void {
  const templates = program
    .command('templates')
    .alias('template')
    .description('container templates: list, check, try and reload them, and the catalogue')
  addCommands(templates, run, { list, catalogue: catalogueCommand, check: checkCommand, try: tryCommand, reload })
}

const list: CommandSpec = {
  description: 'list the templates, and how many containers of an older version run',
  effect: 'Read-only. With --json each template is one line, with the users who run an older version.',
  examples: [
    ['templates list', 'types and versions'],
    ['templates list --json | jq .older', 'who runs an older version'],
  ],
  work: byApi(listTemplates),
}

async function listTemplates({ terminal }: CommandContext, api: Client): Promise<void> {
  const { templates } = await api.listTemplates()
  for (const template of templates) terminal.json(template)
  const rows = templates.map(({ type, version, older }) => [type, version, String(older.length)])
  terminal.table(['TYPE', 'VERSION', 'OLDER THAT RUN'], rows)
}

const reload: CommandSpec = {
  description: 'read the file of templates again',
  effect:
    'All templates are checked before any counts; with a mistake those from before stay in force. What runs keeps ' +
    'running, with the template that it was started with.',
  examples: [
    ['templates reload', 'after a change of CONTAINER_TEMPLATES_FILE'],
    ['templates reload --json | jq -r .message', 'for a deployment script'],
  ],
  work: byApi(reloadTemplates),
}

async function reloadTemplates({ terminal }: CommandContext, api: Client): Promise<void> {
  const answer = await api.reloadTemplates()
  terminal.json(answer)
  terminal.print(answer.message)
}
