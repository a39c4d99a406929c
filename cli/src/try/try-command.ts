import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { defineCommand } from '#/command.ts'
import { CommandFailed, WrongUsage, reasonOf } from '#/command-failure.ts'
import { requireDocker, requireSettings } from '#/commands/store-access.ts'
import { extendedFields, findCatalogueEntry } from '@berth/server/templates/catalogue.ts'
import type { TrialOptions } from './run-trial.ts'
import type { Fields } from './try-installation.ts'

/** `berth templates try`. */
export const tryCommand = defineCommand({
  description: 'try an application behind the prefix, and find a template that works',
  usage: (command) =>
    command
      .argument('<image|name>', 'image, or name of a template of the catalogue, or of --file')
      .option('--file <file>', 'file of templates that has the name')
      .option('--image <image>', 'image instead of the one that the template names')
      .option('--timeout <seconds>', 'how long it may take to start, in each attempt', '120')
      .option('--browser <file>', 'Chromium, or a browser made of it; looked for in PATH if not given')
      .option('--http', 'look by HTTP alone, without a browser'),
  effect:
    'Starts a second Berth on the loopback interface, with a store, a user and containers of its own, opens the ' +
    'application in a headless Chromium, clicks around in it, and lists what breaks: addresses, redirects, WebSockets, ' +
    'cookies and service workers outside of the prefix, mixed content, frames. Then it tries what mends that, such as ' +
    'a template of the catalogue, until one works, and prints it. The browser reaches nothing but the application. A missing image is pulled and stays; all ' +
    'else is removed at the end, also after Ctrl-C. Running containers and the service are left alone. Exit code 1 if ' +
    'the template breaks as it was given.',
  examples: [
    ['templates try grafana/grafana:latest', 'what an image needs behind the prefix'],
    ['templates try jupyterlab --image my-notebook:1', 'a template of the catalogue with an image of your own'],
    ['templates try lab --file templates.yaml --json | jq .proposal', 'a template of your own, for a script'],
  ],
  work: async (context, given, options) => {
    const { signal, terminal, env, folder } = context
    const config = requireSettings(context)
    requireDocker(config, 'berth templates try starts containers on Docker; it knows nothing of clusters yet.')
    const startLimit = Number(options.timeout) * 1_000
    if (!(startLimit >= 1_000 && startLimit <= 3_600_000)) throw new WrongUsage('--timeout takes 1 to 3600 seconds.')
    // Loaded here, because loading it would slow every other command.
    const [{ runTrial }, { findChromium }] = await Promise.all([import('./run-trial.ts'), import('./chromium.ts')])
    const fields = { ...fieldsOf(given, options, folder), ...(options.image && { image: options.image }) }
    const browser = options.browser ? path.resolve(folder, options.browser) : findChromium(env.PATH ?? '')
    if (!options.http && browser === undefined)
      terminal.note(
        'There is no Chromium in PATH (apt-get install chromium, or --browser): only HTTP is looked at. Scripts, WebSockets, cookies of scripts and service workers are not tried.',
      )
    const trial: TrialOptions = {
      config,
      fields,
      name: nameFor(given),
      startLimit,
      browser: options.http ? null : (browser ?? null),
    }
    const { works, proposal } = await runTrial(context, trial).catch((error: unknown) => {
      signal.throwIfAborted()
      throw error instanceof CommandFailed ? error : new CommandFailed(`It could not be tried: ${reasonOf(error)}`)
    })
    if (works) return
    throw new CommandFailed(
      proposal
        ? `${given} breaks as it is; see above what works.`
        : `${given} breaks, and no template was found that works: see docs/how-to/run-applications.md.`,
    )
  },
})

interface TryOptions {
  readonly file?: string
  readonly image?: string
  readonly timeout: string
  readonly browser?: string
  readonly http?: true
}

/** Of the file, of the catalogue, or of an image alone. @throws {WrongUsage} */
function fieldsOf(given: string, { file }: TryOptions, folder: string): Fields {
  if (file === undefined) return findCatalogueEntry(given)?.fields ?? { image: given }
  const templates = readMap(path.resolve(folder, file))
  if (!Object.hasOwn(templates, given))
    throw new WrongUsage(`${file} has no template ${given}. There are: ${Object.keys(templates).join(', ')}.`)
  const chosen = extendedFields(templates[given])
  if ('problem' in chosen) throw new WrongUsage(chosen.problem)
  return chosen.fields as Fields
}

function readMap(file: string): Record<string, unknown> {
  try {
    return { ...(parse(readFileSync(file, 'utf8')) as object) } as Record<string, unknown>
  } catch (error) {
    throw new WrongUsage(`${file} cannot be read: ${(error as Error).message.split('\n')[0]}`)
  }
}

/** A type for the proposal: the name, or the last part of the image's without its tag. */
const nameFor = (given: string) => given.replace(/[:@][^/]*$/, '').replace(/^.*\//, '') || 'app'
