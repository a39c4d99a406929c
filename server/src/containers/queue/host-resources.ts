import type { Logger } from 'pino'
import { withTimeout } from '#/concurrency/try-or-log.ts'
import { refusals, type Refusal } from '#/errors.ts'
import { defaultLanguage } from '#/messages/language.ts'
import { message, type LocalizedMessage } from '#/messages/localized-message.ts'
import { localize } from '#/messages/localize.ts'
import type { HostReport } from '#/runtime/host-capacity.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { formatBytes } from '../../messages/format-bytes.ts'

const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

/** Interval of queries, timeout of one, and min delay of another one after a refusal; in ms. */
const [queryInterval, queryTimeout, minRetryDelay] = [15_000, 6_000, 1_000]

/** How long memory counts as short after a report that says so, in ms: what the OOM killer has freed hides the cause. */
const memoryShortFor = 60_000

/** A part of the total, but at least `min` bytes, and at most `max` bytes or `maxPart` of the total. */
interface Threshold {
  readonly part: number
  readonly min: number
  readonly max: number
  readonly maxPart: number
}

/**
 * Below `refuse` no container is started, below `warn` operators are warned. Memory limits are no reservations: a
 * hundred containers may have a limit of a gigabyte each on a host with ten, so only the free memory counts. Two per
 * cent of a large disk are a lot, and so are 256 MiB of a small host's memory.
 */
const thresholds = {
  disk: {
    refuse: { part: 0.02, min: GiB, max: 10 * GiB, maxPart: 0.1 },
    warn: { part: 0.1, min: 4 * GiB, max: 50 * GiB, maxPart: 0.25 },
  },
  memory: {
    refuse: { part: 0.02, min: 256 * MiB, max: GiB, maxPart: 0.125 },
    warn: { part: 0.1, min: 512 * MiB, max: 4 * GiB, maxPart: 0.25 },
  },
} as const
/** Free addresses below which operators are warned. */
const fewAddresses = 100

/** Monitor of the host's free memory, disk and addresses: refuses launches below a threshold, and warns earlier. */
export class HostResources {
  readonly #runtime: Pick<Runtime, 'host'>
  readonly #log: Pick<Logger, 'warn' | 'info' | 'debug'>
  #report: HostReport | undefined
  #warnings: readonly LocalizedMessage[] = []
  #asking: Promise<void> | undefined
  #askedAt = -Infinity
  #memoryShortAt = -Infinity
  /** Containers that were started since the report: it does not include them yet. */
  #startedSince = 0
  #timer: NodeJS.Timeout | undefined

  constructor(runtime: Pick<Runtime, 'host'>, log: Pick<Logger, 'warn' | 'info' | 'debug'>) {
    this.#runtime = runtime
    this.#log = log
  }

  /** Queries the host now and at intervals. */
  start(): void {
    void this.ask()
    this.#timer = setInterval(() => void this.ask(), queryInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The last report; undefined until there is one. */
  get report(): HostReport | undefined {
    return this.#report
  }

  /** Which resources are about to run out, and whether the host rules are missing; a sentence each for the operator. */
  warnings(): readonly LocalizedMessage[] {
    const { rules, rulesAre } = this.#report ?? {}
    if (!rules || rules.areSet) return this.#warnings
    const { reason } = rules
    const missing =
      rulesAre === 'policies' ? message('warnings.noPolicies', { reason }) : message('warnings.noRules', { reason })
    return [...this.#warnings, missing]
  }

  /**
   * Resolves within the timeout, whether the engine answered or not; without an answer the last report stays in use.
   */
  async ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /**
   * Asks the host: whether operators are warned of little memory, or were within the last minute.
   * @returns never rejects; without an answer by earlier reports
   */
  async isMemoryShort(): Promise<boolean> {
    await this.ask()
    return performance.now() - this.#memoryShortAt < memoryShortFor
  }

  /** A container is about to be started. */
  noteStart(): void {
    this.#startedSince++
  }

  /** Why the host cannot run one more container. @param isNew it needs disk space, too */
  refusal(isNew: boolean): Refusal | undefined {
    return this.#refuseIf(this.#isShort() || (isNew && this.#isDiskShort()))
  }

  /** Why its disk has no room for one more container. */
  diskRefusal(): Refusal | undefined {
    return this.#refuseIf(this.#isDiskShort())
  }

  #refuseIf(isShort: boolean): Refusal | undefined {
    if (!isShort) return undefined
    // Resources may have become free: the next launch should not depend on the next interval.
    if (performance.now() - this.#askedAt >= minRetryDelay) void this.ask()
    return refusals.serverFull()
  }

  #isDiskShort(): boolean {
    const disk = this.#report?.disk
    return disk ? disk.free < bytesOf(thresholds.disk.refuse, disk.total) : false
  }

  #isShort(): boolean {
    if (!this.#report) return false
    const { addressesLeft, memory } = this.#report
    if (addressesLeft !== null && addressesLeft - this.#startedSince <= 0) return true
    return memory !== null && memory.available < bytesOf(thresholds.memory.refuse, memory.total)
  }

  async #askOnce(): Promise<void> {
    this.#askedAt = performance.now()
    try {
      const report = await withTimeout(queryTimeout, this.#runtime.host())
      if (!report) return
      this.#report = report
      if (isMemoryLow(report)) this.#memoryShortAt = performance.now()
      this.#startedSince = 0
      this.#noteWarnings(warningsOf(report))
    } catch (error) {
      this.#log.debug({ err: error }, 'the host could not be queried; its last report stays in use')
    }
  }

  /** Logs what begins and ends. Numbers change with each query, so a warning is identified by its first words. */
  #noteWarnings(warnings: readonly LocalizedMessage[]): void {
    const [before, now] = [this.#warnings.map(subjectOf), warnings.map(subjectOf)]
    for (const warning of warnings)
      if (!before.includes(subjectOf(warning))) this.#log.warn(localize(defaultLanguage, warning))
    for (const subject of before) if (!now.includes(subject)) this.#log.info(`${subject}: resolved`)
    this.#warnings = warnings
  }
}

function warningsOf({ addressesLeft, disk, memory }: HostReport): LocalizedMessage[] {
  const warnings: LocalizedMessage[] = []
  if (addressesLeft !== null && addressesLeft < fewAddresses)
    warnings.push(message('warnings.addresses', { left: addressesLeft }))
  if (disk && disk.free < bytesOf(thresholds.disk.warn, disk.total))
    warnings.push(message('warnings.disk', left(disk.free, disk.total, thresholds.disk.refuse)))
  if (memory && isMemoryLow({ memory }))
    warnings.push(message('warnings.memory', left(memory.available, memory.total, thresholds.memory.refuse)))
  return warnings
}

const isMemoryLow = ({ memory }: Pick<HostReport, 'memory'>) =>
  memory !== null && memory.available < bytesOf(thresholds.memory.warn, memory.total)

const left = (free: number, total: number, refuse: Threshold) => ({
  free: formatBytes(free),
  total: formatBytes(total),
  min: formatBytes(bytesOf(refuse, total)),
})

function subjectOf(warning: LocalizedMessage): string {
  const text = localize(defaultLanguage, warning)
  return text.slice(0, text.indexOf(':'))
}

const bytesOf = ({ part, min, max, maxPart }: Threshold, total: number) =>
  Math.min(max, maxPart * total, Math.max(min, part * total))
