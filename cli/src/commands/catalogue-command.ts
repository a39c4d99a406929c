import { stringify } from 'yaml'
import type { CommandSpec } from '#/command.ts'
import type { CommandContext } from '#/with-api.ts'
import { WrongUsage } from '#/command-failure.ts'
import { catalogueEntries, chosenFields } from '@berth/server/templates/catalogue.ts'

/** `berth templates catalogue`. */
export const catalogueCommand: CommandSpec = {
  description: 'list the templates that come with Berth, or print one of them',
  usage: (command) => command.argument('[name]', 'print this template as YAML'),
  effect:
    'Read-only, and asks no running service. CONTAINER_TEMPLATES takes the names; a template with "extends: name" ' +
    'changes fields of one. Each, and what of it was tried: docs/reference/catalogue.md.',
  examples: [
    ['templates catalogue', 'names and applications'],
    ['templates catalogue jupyterlab >templates.yaml', 'a file to change'],
  ],
  work: showCatalogue,
}

async function showCatalogue({ terminal }: CommandContext, name: string | undefined): Promise<void> {
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
}
