import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { CommandSpec } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { withAccount } from '#/account-name.ts'
import { CommandFailed } from '#/command-failure.ts'
import { readConfig, type Config } from '@berth/server/config/config.ts'
import { followedPaths } from '@berth/server/config/followed-paths.ts'
import { readTemplateFile, templatesOfNames } from '@berth/server/config/read-template-settings.ts'
import { isNameList } from '@berth/server/templates/catalogue.ts'
import { checkStarterFiles } from '@berth/server/templates/starter-files/file-sources.ts'
import type { ReadTemplates } from '@berth/server/templates/read-templates.ts'

/** `berth templates check`. */
export const checkCommand: CommandSpec = {
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
  work: checkTemplates,
}

async function checkTemplates({ env, folder, terminal }: CommandContext, given: string): Promise<void> {
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
}

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
