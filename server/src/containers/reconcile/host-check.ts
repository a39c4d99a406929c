import { existsSync } from 'node:fs'
import type { Logger } from 'pino'
import type { HostReport, Runtime, RuntimeCapabilities } from '#/engines/runtime.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import { requiredFiles, type Template } from '#/templates/template.ts'
import type { EngineListCache } from './engine-list.ts'
import type { Task } from './reconciler.ts'

/** Timeout of the engine at the start, in ms; Berth starts without one, too. */
const startTimeout = 4_000

/** Checks that the host has what the templates require, and reports problems to the operator before users meet them. */
export class HostCheck {
  readonly #runtime: Pick<Runtime, 'prepare' | 'host' | 'capabilities' | 'isolationTrial'>
  readonly #templates: () => readonly Template[]
  readonly #log: Pick<Logger, 'warn' | 'error' | 'info'>
  readonly #gpuIds: readonly string[]
  /** The last logged text, so that it is logged once. */
  #lastLogged = ''

  constructor(
    runtime: Pick<Runtime, 'prepare' | 'host' | 'capabilities' | 'isolationTrial'>,
    templates: () => readonly Template[],
    log: Pick<Logger, 'warn' | 'error' | 'info'>,
    gpuIds: readonly string[] = [],
  ) {
    this.#gpuIds = gpuIds
    this.#runtime = runtime
    this.#templates = templates
    this.#log = log
  }

  /**
   * Checks and prepares the host before requests are served. An engine that does not answer is checked later.
   * @param isPrepared networks and rules are there; the reconciler's first run, just after the start, sees to changes
   * @throws {Error} with a sentence for the operator when a template asks for what the engine does not have
   */
  async checkAtStart(isPrepared = false): Promise<void> {
    const { capabilities } = this.#runtime
    const report = await withTimeout(startTimeout, this.#ask())
    const problems = [
      ...unsupportedBy(capabilities, this.#templates()),
      ...this.#fewGpus(this.#templates()),
      ...(report ? lackingIn(report, this.#templates()) : []),
    ]
    if (problems.length > 0) throw new Error(problems.join('\n'))
    for (const each of heldDifferentlyBy(capabilities, this.#templates())) this.#log.warn(each)
    if (report && !isPrepared) await withTimeout(startTimeout, this.#prepare())
  }

  /** For a start that does not wait for it: prepares the host, and logs what it lacks. Never rejects; ends within 4 s. */
  async prepareBeside(): Promise<void> {
    await withTimeout(startTimeout, this.#prepare())
  }

  /** Tries what keeps containers apart, where only a trial can tell, and logs the result. Never throws. @param signal ends it */
  async tryIsolation(signal: AbortSignal): Promise<void> {
    const trial = this.#runtime.isolationTrial()
    // A trial has no account at a registry.
    const program = this.#templates().find(({ registryAuth }) => registryAuth === null) ?? this.#templates()[0]
    if (!trial || !program) return
    try {
      const { areSet } = await trial(program, signal)
      if (areSet) this.#log.info('NetworkPolicies are enforced: a pod that they close could not be reached')
      await this.check()
    } catch (error) {
      if (!signal.aborted) this.#log.warn({ err: error }, 'whether containers are kept apart could not be tried')
    }
  }

  /** As `checkAtStart`, but problems are logged, once. @throws {RuntimeError} when the engine does not answer */
  async check(): Promise<void> {
    this.#logProblems(await this.#runtime.host())
  }

  /** What the engine lacks for other templates; nothing when it does not answer, and then it is found out later. */
  async lackingFor(templates: readonly Template[]): Promise<string[]> {
    const report = await withTimeout(startTimeout, this.#ask())
    return [
      ...unsupportedBy(this.#runtime.capabilities, templates),
      ...this.#fewGpus(templates),
      ...(report ? lackingIn(report, templates) : []),
    ]
  }

  /** A launch of these would wait for ever. */
  #fewGpus(templates: readonly Template[]): string[] {
    const { length } = this.#gpuIds
    if (length === 0) return []
    return templates
      .filter(({ gpus }) => gpus > length)
      .map(({ type, gpus }) => `the template "${type}" asks for ${gpus} GPUs, and GPU_IDS names ${length}`)
  }

  async #ask(): Promise<HostReport | undefined> {
    try {
      return await this.#runtime.host()
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the engine does not answer; the requirements of the templates are checked when it does',
      )
      return undefined
    }
  }

  /** Sets the host rules before containers are started. A failure is logged, and retried by the prerequisites task. */
  async #prepare(): Promise<void> {
    try {
      await this.#runtime.prepare()
      await this.check()
    } catch (error) {
      this.#log.warn({ err: error }, 'preparing the engine failed; it is retried')
    }
  }

  #logProblems(report: HostReport): void {
    const { rules, rulesAre } = report
    const problems = lackingIn(report, this.#templates())
    const warning = !rules || rules.areSet ? '' : withoutRules[rulesAre](rules.reason)
    const problemText = [...problems, warning].join('\n')
    if (problemText === this.#lastLogged) return
    for (const problem of problems) this.#log.error(problem)
    if (warning !== '') this.#log.warn(warning)
    else if (rules && this.#lastLogged !== '') this.#log.info(`the ${rulesAre} are set`)
    this.#lastLogged = problemText
  }
}

/** One sentence for each thing that a template asks for and the engine does not have. */
function lackingIn(report: HostReport, templates: readonly Template[]): string[] {
  return [
    ...unknownRuntimes(templates, report.ociRuntimes),
    ...(report.hasGpus === false ? missingGpus(templates) : []),
    ...(report.isThisMachine ? missingDevices(templates) : []),
  ]
}

const missingGpus = (templates: readonly Template[]): string[] =>
  templates
    .filter(({ gpus }) => gpus > 0)
    .map(
      ({ type, gpus }) =>
        `the template "${type}" asks for ${gpus} GPU${gpus === 1 ? '' : 's'}, and the engine offers none: install the NVIDIA Container Toolkit, or CDI specifications, and restart the engine`,
    )

const missingDevices = (templates: readonly Template[]): string[] =>
  templates.flatMap(({ type, devices }) =>
    devices
      .filter(({ onHost }) => !existsSync(onHost))
      .map(({ onHost }) => `the template "${type}" asks for the device ${onHost}, which this machine does not have`),
  )

/** One sentence for each template whose runtime the engine does not have. */
function unknownRuntimes(templates: readonly Template[], known: readonly string[] | null): string[] {
  return templates.flatMap(({ type, runtime }) =>
    runtime === null || known === null || known.includes(runtime) || isFoundByTheEngine(runtime)
      ? []
      : `the template "${type}" asks for the runtime "${runtime}", which the engine does not have; it has ${known.join(', ')}`,
  )
}

/** Names of shims, as `io.containerd.kata.v2`, and paths: newer engines accept them without configuration. */
const isFoundByTheEngine = (runtime: string) => /^\/|^[\w-]+(\.[\w-]+)+\.v\d+$/.test(runtime)

const withoutRules = {
  'host rules': (reason: string) =>
    `Berth sets no rules on this host: ${reason}. Containers can reach the services of this host and its metadata address; docs/how-to/set-host-rules.md has the rules to set.`,
  policies: (reason: string) =>
    `no NetworkPolicies keep containers from each other and from the cluster: ${reason}; docs/how-to/run-on-kubernetes.md says what to do`,
} as const

/** One sentence for each thing that a template asks for and the engine can never give; Berth does not start with it. */
export function unsupportedBy(capabilities: RuntimeCapabilities, templates: readonly Template[]): string[] {
  return templates.flatMap((template) => [
    ...(capabilities.mountsHostPaths ? [] : withoutHostPaths(template)),
    ...(capabilities.putsFiles ? [] : withoutFiles(template)),
    ...(capabilities.hasNodes ? [] : [...withoutNodes(template), ...withoutClaims(template)]),
  ])
}

const withoutFiles = ({ type, files }: Template): string[] =>
  requiredFiles(files).length === 0
    ? []
    : [`the template "${type}" has files, and this engine has no way to put them into a home before a start`]

const withoutNodes = ({ type, kubernetes }: Template): string[] =>
  kubernetes === null
    ? []
    : [
        `the template "${type}" has the field kubernetes, and this engine is no cluster: take the field away, or set ENGINE=kubernetes`,
      ]

const withoutClaims = ({ type, homeSource }: Template): string[] =>
  homeSource && 'claim' in homeSource
    ? [
        `the template "${type}" has its home_source in the claim ${homeSource.claim}, and this engine has no claims: ` +
          'name a folder of the host as {path, create}, or set ENGINE=kubernetes',
      ]
    : []

function withoutHostPaths(template: Template): string[] {
  const { type, devices, homeSource } = template
  return [
    ...(homeSource && 'path' in homeSource
      ? [
          `the template "${type}" has its home_source at ${homeSource.path}, and containers of this engine have no host directories; ` +
            'name a claim of the namespace as {claim, sub_path}',
        ]
      : []),
    ...template.mounts.flatMap(({ source }) =>
      'path' in source
        ? [
            `the template "${type}" mounts the host directory ${source.path}, and containers of this engine have no host directories; mount a volume by its name`,
          ]
        : [],
    ),
    ...devices.map(
      ({ onHost }) =>
        `the template "${type}" asks for the device ${onHost}, and containers of this engine have no devices of a host`,
    ),
  ]
}

/** One sentence for each thing that the engine does otherwise than the template says. */
export function heldDifferentlyBy(capabilities: RuntimeCapabilities, templates: readonly Template[]): string[] {
  return templates.flatMap((template) => [
    ...(capabilities.pauses ? [] : [...withoutPause(template), ...runsFromSignIn(template)]),
    ...(capabilities.reportsUsage ? [] : withoutUsage(template)),
    ...(capabilities.hasImages ? [] : withoutPort(template)),
  ])
}

const withoutPause = ({ type, idlePause }: Template): string[] =>
  idlePause === 0
    ? []
    : [
        `the template "${type}" has idle_pause, and this engine pauses nothing: its containers are stopped after ${idlePause} s, and what they keep in memory is lost`,
      ]

const runsFromSignIn = ({ type, prestart, prestartAt }: Template): string[] =>
  prestart || prestartAt !== null
    ? [
        `the template "${type}" is started ahead, and this engine pauses nothing: its containers run and use CPU time until idle_timeout`,
      ]
    : []

const withoutUsage = ({ type, idleCpu }: Template): string[] =>
  idleCpu === null
    ? []
    : [`the template "${type}" has idle_cpu, and this engine reports no CPU time: traffic alone counts as use`]

const withoutPort = ({ type, port }: Template): string[] =>
  port === null
    ? [`the template "${type}" names no port, and this engine does not tell which one its image exposes: 8080 is used`]
    : []

/** Prerequisites of containers in the engine: networks and host rules. Repeated, because an operator's clean-up may remove an unused network. */
export function prerequisitesTask(
  runtime: Pick<Runtime, 'prepare'>,
  check: Pick<HostCheck, 'check'>,
  engineList: Pick<EngineListCache, 'get'>,
): Task {
  return {
    name: 'prepared',
    async run() {
      // First, because a list of all containers also says how many are on each network. The tasks that need it report
      // its failure.
      await engineList.get().catch(() => undefined)
      await runtime.prepare()
      await check.check()
      return {}
    },
  }
}
