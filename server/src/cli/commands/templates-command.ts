import { readFileSync } from 'node:fs'
import type { Client } from '@berth/api/client.ts'
import type { Command } from 'commander'
import { readConfig } from '#/config/config.ts'
import { readTemplateFile } from '#/config/read-template-settings.ts'
import { checkStarterFiles } from '#/containers/starter-files/check-starter-files.ts'
import { CommandFailed } from '#/cli/command-failure.ts'
import { withApi, type CommandContext } from '#/cli/api/with-api.ts'
import { addHelp, type Run } from '#/cli/output/help.ts'

/** `berth templates ...`: container templates. */
export function addTemplates(program: Command, run: Run): void {
  const templates = program.command('templates').description('container templates: list, check and reload them')
  addList(templates, run)
  addCheck(templates, run)
  addReload(templates, run)
}

function addList(templates: Command, run: Run): void {
  const list = templates
    .command('list')
    .description('list the templates, and how many containers of an older version run')
    .action(() => run((context) => withApi(context, (api) => listTemplates(context, api))))
  addHelp(list, {
    effect: 'Read-only. With --json each template is one line, with the users who run an older version.',
    examples: [
      ['templates list', 'types and versions'],
      ['templates list --json | jq .older', 'who runs an older version'],
    ],
  })
}

async function listTemplates({ terminal }: CommandContext, api: Client): Promise<void> {
  const { templates } = await api.listTemplates()
  for (const template of templates) terminal.json(template)
  const rows = templates.map(({ type, version, older }) => [type, version, String(older.length)])
  terminal.table(['TYPE', 'VERSION', 'OLDER THAT RUN'], rows)
}

function addCheck(templates: Command, run: Run): void {
  const check = templates
    .command('check')
    .argument('<file>', 'file of templates, JSON or YAML')
    .description('check a file of templates')
    .action((file: string) => run((context) => checkTemplates(context, file)))
  addHelp(check, {
    effect:
      'Changes nothing, and asks no running service; starter files are fetched and forgotten. SECRETS_DIR and ALLOWED_MOUNT_ROOTS of the environment or of berth.env ' +
      'count. Exit code 1 if a template is wrong.',
    examples: [
      ['templates check templates.yaml', 'before a reload'],
      ['templates check templates.yaml --json | jq .problems', 'for a deployment script'],
    ],
  })
}

async function checkTemplates({ env, terminal }: CommandContext, file: string): Promise<void> {
  const { SECRETS_DIR = '', ALLOWED_MOUNT_ROOTS = '' } = env
  const { config, problems: wrong } = readConfig({ SECRETS_DIR, ALLOWED_MOUNT_ROOTS }, () => '')
  if (!config) throw new CommandFailed(wrong.join('\n'))
  const { templates, problems: mistakes } = readTemplateFile(file, (path) => readFileSync(path, 'utf8'), config.sources)
  // A mistake that is known already is not named twice.
  const { mountRoots } = config.sources
  const problems = mistakes.length > 0 ? mistakes : await checkStarterFiles(templates, mountRoots)
  terminal.json({ ok: problems.length === 0, types: templates.map(({ type }) => type), problems })
  for (const problem of problems) terminal.print(problem)
  if (problems.length > 0) throw new CommandFailed(`${file} cannot be used.`)
  terminal.print(`${file} is right: ${templates.map(({ type }) => type).join(', ')}`)
}

function addReload(templates: Command, run: Run): void {
  const reload = templates
    .command('reload')
    .description('read the file of templates again')
    .action(() => run((context) => withApi(context, (api) => reloadTemplates(context, api))))
  addHelp(reload, {
    effect:
      'All templates are checked before any counts; with a mistake those from before stay in force. What runs keeps ' +
      'running, with the template that it was started with.',
    examples: [
      ['templates reload', 'after a change of CONTAINER_TEMPLATES_FILE'],
      ['templates reload --json | jq -r .message', 'for a deployment script'],
    ],
  })
}

async function reloadTemplates({ terminal }: CommandContext, api: Client): Promise<void> {
  const answer = await api.reloadTemplates()
  terminal.json(answer)
  terminal.print(answer.message)
}
