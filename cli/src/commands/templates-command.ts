import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { stringify } from 'yaml'
import { readConfig, readTemplateFile, templatesOfNames, type Config } from '@berth/server/config/config.ts'
import { followedPaths } from '@berth/server/config/settings.ts'
import { catalogueEntries, chosenFields, isNameList } from '@berth/server/templates/catalogue.ts'
import type { ReadTemplates } from '@berth/server/templates/read-templates.ts'
import { checkStarterFiles } from '@berth/server/templates/starter-files/file-sources.ts'
import { CommandFailed, WrongUsage } from '#/command-failure.ts'
import { defineCommand, type CommandGroup } from '#/command.ts'
import { withAccount } from '#/find-users.ts'
import { tryCommand } from '#/try/try-command.ts'

/** `berth templates ...`: container templates. */
export const templatesCommands: CommandGroup = {
  description: 'container templates: list, check, try and reload them, and the catalogue',
  alias: 'template',
  commands: () => ({ list, catalogue: catalogueCommand, check: checkCommand, try: tryCommand, reload }),
}

const list = defineCommand({
  description: 'list the templates, and how many containers of an older version run',
  effect: 'Read-only. With --json each template is one line, with the users who run an older version.',
  examples: [
    ['templates list', 'types and versions'],
    ['templates list --json | jq .older', 'who runs an older version'],
  ],
  api: async ({ terminal }, api) => {
    const { templates } = await api.listTemplates()
    for (const template of templates) terminal.json(template)
    const rows = templates.map(({ type, version, older }) => [type, version, String(older.length)])
    terminal.table(['TYPE', 'VERSION', 'OLDER THAT RUN'], rows)
  },
})

const reload = defineCommand({
  description: 'read the file of templates again',
  effect:
    'All templates are checked before any counts; with a mistake those from before stay in force. What runs keeps ' +
    'running, with the template that it was started with.',
  examples: [
    ['templates reload', 'after a change of CONTAINER_TEMPLATES_FILE'],
    ['templates reload --json | jq -r .message', 'for a deployment script'],
  ],
  api: async ({ terminal }, api) => {
    const answer = await api.reloadTemplates()
    terminal.json(answer)
    terminal.print(answer.message)
  },
})

/** `berth templates check`. */
const checkCommand = defineCommand({
  description: 'check a file of templates, or names of the catalogue',
  usage: (command) =>
    command.argument('<file|names>', 'file of templates, JSON or YAML; or names of the catalogue, separated by commas'),
  effect:
    'Changes nothing, and asks no running service; starter files are fetched and forgotten. SECRETS_DIR, ALLOWED_MOUNT_ROOTS and CONTAINER_ROUTING of the environment or of ' +
    'berth.env count. A file of that name comes before names of the catalogue. Exit code 1 if a template is wrong.',
  examples: [
    ['templates check templates.yaml', 'before a reload'],
    ['templates check code-server,jupyterlab', 'before they go to CONTAINER_TEMPLATES'],
    ['templates check templates.yaml --json | jq .problems', 'for a deployment script'],
  ],
  work: async ({ env, folder, terminal }, given) => {
    const { SECRETS_DIR = '', ALLOWED_MOUNT_ROOTS = '', CONTAINER_ROUTING = '' } = env
    const { config, problems: wrong } = readConfig({ SECRETS_DIR, ALLOWED_MOUNT_ROOTS, CONTAINER_ROUTING }, () => '')
    if (!config) throw new CommandFailed(wrong.join('\n'))
    // Other settings are not checked here, but what they name is not to be below a writable mount.
    const sources = { ...config.sources, followed: followedPaths(env) }
    const read = readGiven(given, folder, { ...config, sources })
    // A mistake that is known already is not named twice.
    const problems = read.problems.length > 0 ? read.problems : await problemsOfFiles(read, config)
    const { templates } = read
    terminal.json({ ok: problems.length === 0, types: templates.map(({ type }) => type), problems })
    for (const problem of problems) terminal.print(withAccount(problem))
    if (problems.length > 0) throw new CommandFailed(`${given} cannot be used.`)
    terminal.print(`${given} is right: ${templates.map(({ type }) => type).join(', ')}`)
  },
})

type CheckedFor = Pick<Config, 'sources' | 'containerRouting'>

function readGiven(given: string, folder: string, { sources, containerRouting }: CheckedFor): ReadTemplates {
  const file = path.resolve(folder, given)
  if (isNameList(given) && !existsSync(file)) return templatesOfNames(given, 'names')
  return readTemplateFile(file, (each) => readFileSync(each, 'utf8'), sources, containerRouting)
}

async function problemsOfFiles({ templates, locate }: ReadTemplates, { sources }: CheckedFor): Promise<string[]> {
  const found = await checkStarterFiles(templates, sources.mountRoots)
  return found.map(({ type, problem }) => locate(type, problem))
}

/** `berth templates catalogue`. */
const catalogueCommand = defineCommand({
  description: 'list the templates that come with Berth, or print one of them',
  usage: (command) => command.argument('[name]', 'print this template as YAML'),
  effect:
    'Read-only, and asks no running service. CONTAINER_TEMPLATES takes the names; a template with "extends: name" ' +
    'changes fields of one. Each, and what of it was tried: docs/reference/catalogue.md.',
  examples: [
    ['templates catalogue', 'names and applications'],
    ['templates catalogue jupyterlab >templates.yaml', 'a file to change'],
  ],
  work: async ({ terminal }, name) => {
    if (name === undefined) {
      for (const { behindPrefix, notTried, ...entry } of catalogueEntries())
        terminal.json({ ...entry, behind_prefix: behindPrefix, not_tried: notTried })
      const rows = catalogueEntries().map((each) => [each.name, each.title, each.tried === null ? 'no' : 'yes'])
      return terminal.table(['NAME', 'APPLICATION', 'TRIED'], rows)
    }
    const chosen = chosenFields(name)
    if ('problem' in chosen) throw new WrongUsage(chosen.problem)
    const template = { [name]: chosen.fields }
    if (terminal.isJson) terminal.json(template)
    else await terminal.write(stringify(template, { lineWidth: 0 }))
  },
})
