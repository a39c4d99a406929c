import type { Logger } from 'pino'
import { withTimeout } from '#/concurrency/try-or-log.ts'
import type { Template } from '#/containers/templates/template.ts'
import type { HostReport } from '#/runtime/host-capacity.ts'
import type { Runtime } from '#/runtime/runtime.ts'

/** How long the start may wait for an engine, in ms; Berth starts without one, too. */
const startTimeout = 4_000

/** Says what an operator has to mend before people come upon it: what templates ask of a host that does not have it. */
export class HostCheck {
  readonly #runtime: Pick<Runtime, 'prepare' | 'host'>
  readonly #templates: readonly Template[]
  readonly #log: Pick<Logger, 'warn' | 'error' | 'info'>
  /** What was said last, so that it is said once. */
  #lastLogged = ''

  constructor(
    runtime: Pick<Runtime, 'prepare' | 'host'>,
    templates: readonly Template[],
    log: Pick<Logger, 'warn' | 'error' | 'info'>,
  ) {
    this.#runtime = runtime
    this.#templates = templates
    this.#log = log
  }

  /**
   * Looks before anybody is served, and makes the host ready. An engine that is silent is looked at when it answers.
   * @throws {Error} with a sentence for the operator when a template names a runtime that the engine does not have
   */
  async checkAtStart(): Promise<void> {
    const report = await withTimeout(startTimeout, this.#ask())
    const problems = report ? unknownRuntimes(this.#templates, report.ociRuntimes) : []
    if (problems.length > 0) throw new Error(problems.join('\n'))
    if (report) await withTimeout(startTimeout, this.#prepare())
  }

  /** As `atStart`, but what is wrong is logged, once. @throws {RuntimeError} when it cannot be asked */
  async check(): Promise<void> {
    this.#logProblems(await this.#runtime.host())
  }

  async #ask(): Promise<HostReport | undefined> {
    try {
      return await this.#runtime.host()
    } catch (error) {
      this.#log.warn({ err: error }, 'the engine does not answer; what templates ask of it is looked at when it does')
      return undefined
    }
  }

  /** So that rules of the host are set before containers are started. Whatever it cannot do now is tried again, and told then. */
  async #prepare(): Promise<void> {
    try {
      await this.#runtime.prepare()
      await this.check()
    } catch (error) {
      this.#log.warn({ err: error }, 'the engine could not be made ready; it is tried again')
    }
  }

  #logProblems({ ociRuntimes, rules }: HostReport): void {
    const problems = unknownRuntimes(this.#templates, ociRuntimes)
    const warning = rules.areSet ? '' : withoutRules(rules.reason)
    const problemText = [...problems, warning].join('\n')
    if (problemText === this.#lastLogged) return
    for (const problem of problems) this.#log.error(problem)
    if (warning !== '') this.#log.warn(warning)
    else if (this.#lastLogged !== '') this.#log.info('the rules of the host are set')
    this.#lastLogged = problemText
  }
}

/** One sentence for each template whose runtime is not among the engine's. */
function unknownRuntimes(templates: readonly Template[], known: readonly string[]): string[] {
  return templates.flatMap(({ type, runtime }) =>
    runtime === null || known.includes(runtime) || isFoundByTheEngine(runtime)
      ? []
      : `the template "${type}" asks for the runtime "${runtime}", which the engine does not have; it has ${known.join(', ')}`,
  )
}

/** Names of shims, as `io.containerd.kata.v2`, and paths: newer engines take those without being told of them before. */
const isFoundByTheEngine = (runtime: string) => /^\/|^[\w-]+(\.[\w-]+)+\.v\d+$/.test(runtime)

const withoutRules = (reason: string) =>
  `Berth sets no rules on this host: ${reason}. Containers can reach the services of this host and its metadata address; docs/how-to/set-host-rules.md has the rules to set.`
