import { stringify } from 'yaml'
import type { CommandContext } from '#/with-api.ts'
import { formatCount } from '#/terminal.ts'
import { endAll } from './trial-installation.ts'
import type { Config } from '@berth/server/config/config.ts'
import type { ImageProgram } from '@berth/server/engines/trial-engine.ts'
import { failed, findTemplate, tryTemplate, type Attempt, type Bench, type Candidate } from './find-template.ts'
import { startChromium } from './chromium.ts'
import { breaks } from './http-look.ts'
import { TryInstallation, type Fields } from './try-installation.ts'

/** What is tried, and how. */
export interface TrialOptions {
  readonly config: Config
  readonly fields: Fields
  /** Type of the proposal. */
  readonly name: string
  /** For each start, in ms. */
  readonly startLimit: number
  /** File of the browser; null: HTTP alone. */
  readonly browser: string | null
}

/** How long the clicks of one attempt may take, in ms. */
const clickTime = 15_000

/**
 * Tries a template and, while it breaks, others; prints what is seen as it goes, and the template that works.
 * @returns whether the given one works, and the one that does
 * @throws {Error} when it cannot be tried · the reason of the signal; nothing is left in either case
 */
export async function runTrial(
  context: CommandContext,
  options: TrialOptions,
): Promise<{ works: boolean; proposal: Attempt | null }> {
  const { terminal, signal } = context
  const benches = new Benches(context, options)
  try {
    terminal.progress('starting a Berth to try it in ...')
    const { installation } = await benches.for('path', options.fields)
    terminal.progress('fetching the image ...')
    const program = await installation.program(String(options.fields.image), signal)
    const attempt = async (candidate: Candidate) => {
      terminal.progress(`trying: ${candidate.change} ...`)
      if (startsNothing(candidate, program))
        return failed(candidate, [breaks('start', 'the image starts no program by itself: set command')])
      return tryTemplate(await benches.for(candidate.routing, candidate.fields), candidate, signal)
    }
    const { attempts, proposal } = await findTemplate(options.fields, program, attempt, (each) => report(context, each))
    printResult(context, options, attempts, proposal, benches.browser)
    return { works: attempts[0]?.works === true, proposal }
  } finally {
    terminal.endProgress()
    await benches
      .close()
      .catch((error: unknown) => terminal.note(`not everything could be removed: ${(error as Error).message}`))
  }
}

const startsNothing = ({ fields }: Candidate, { entrypoint, command }: ImageProgram) =>
  !Array.isArray(fields.command) && entrypoint.length === 0 && command.length === 0

/** One installation, with a browser, for each way of routing; started when first needed. */
class Benches {
  readonly #context: CommandContext
  readonly #options: TrialOptions
  readonly #started = new Map<string, Bench>()
  readonly #endings: (() => unknown)[] = []
  /** Name and version; null without one. */
  browser: string | null = null

  constructor(context: CommandContext, options: TrialOptions) {
    this.#context = context
    this.#options = options
  }

  async for(routing: Candidate['routing'], fields: Fields): Promise<Bench> {
    const known = this.#started.get(routing)
    if (known) return known
    const { config, startLimit, browser: executable } = this.#options
    const { log, signal, env, terminal } = this.#context
    const installation = await TryInstallation.open(config, routing, fields, log, signal)
    this.#endings.push(() => installation.close())
    const where = { host: installation.platformHost, port: installation.port, env }
    const chromium = executable === null ? null : await startChromium({ executable, ...where })
    if (chromium) {
      this.#endings.push(() => chromium.close())
      this.browser = chromium.version
      if (!chromium.isSandboxed) terminal.note('the browser has no sandbox here: try no image that you do not trust')
    }
    const bench = { installation, chromium, startLimit, clickTime }
    this.#started.set(routing, bench)
    return bench
  }

  close(): Promise<void> {
    return endAll(this.#endings)
  }
}

function report({ terminal }: CommandContext, { change, works, findings, startedAfter, seen }: Attempt): void {
  terminal.endProgress()
  const after = startedAfter === null ? '' : ` after ${(startedAfter / 1_000).toFixed(1)} s`
  const counts = [
    formatCount(seen.requests, 'request'),
    formatCount(seen.sockets, 'WebSocket'),
    formatCount(seen.clicks, 'click'),
  ]
  terminal.print(`${works ? 'works ' : 'breaks'}  ${change}${after}: ${counts.join(', ')}`)
  for (const { level, kind, what } of findings)
    terminal.print(`        ${level === 'breaks' ? kind : `(${kind})`}: ${what}`)
}

function printResult(
  { terminal }: CommandContext,
  { name }: TrialOptions,
  attempts: readonly Attempt[],
  proposal: Attempt | null,
  browser: string | null,
): void {
  const works = attempts[0]?.works === true
  const template = proposal && { [name]: proposal.fields }
  terminal.json({
    works,
    browser,
    attempts: attempts.map(({ change, routing, fields, works, startedAfter, findings, seen }) => ({
      change,
      routing,
      template: fields,
      works,
      started_after_ms: startedAfter,
      ...seen,
      findings,
    })),
    proposal: proposal && { routing: proposal.routing, templates: template },
  })
  if (!proposal || terminal.isJson) return
  terminal.print('')
  terminal.print(
    proposal.routing === 'path'
      ? 'This template works:'
      : 'This template works with CONTAINER_ROUTING=subdomain, not below a prefix:',
  )
  for (const line of stringify(template, { lineWidth: 0 }).trimEnd().split('\n')) terminal.print(line)
}
