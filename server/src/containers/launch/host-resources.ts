import type { Logger } from 'pino'
import { withTimeout } from '#/machine/try-or-log.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { formatBytes, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import type { HostReport, Runtime } from '#/engines/runtime.ts'

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

/** What the host has too little of for one more container. */
export type HostShortage = 'addresses' | 'disk' | 'memory'

/** Monitor of the host's free memory, disk and addresses: says below which threshold launches are refused, and warns earlier. */
export class HostResources {
  readonly #runtime: Pick<Runtime, 'host' | 'hostMemory'>
  readonly #log: Pick<Logger, 'warn' | 'info' | 'debug'>
  #report: HostReport | undefined
  /** Known also while the engine, which says all else, does not answer. */
  #memory: HostReport['memory'] = null
  #hasFailed = false
  #warnings: readonly LocalizedMessage[] = []
  #asking: Promise<void> | undefined
  #askedAt = -Infinity
  #memoryShortAt = -Infinity
  /** Containers that were started since the report: it does not include them yet. */
  #startedSince = 0
  #timer: NodeJS.Timeout | undefined

  constructor(runtime: Pick<Runtime, 'host' | 'hostMemory'>, log: Pick<Logger, 'warn' | 'info' | 'debug'>) {
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

  /** Asks as `ask` does, with an answer that is of after this call. */
  async askAnew(): Promise<void> {
    await this.#asking
    return this.ask()
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

  /** What the host has too little of for one more container. @param isNew it needs disk space, too */
  shortage(isNew: boolean): HostShortage | undefined {
    return this.#askIfShort(this.#shortage(isNew))
  }

  /** Why its disk has no room for one more container. */
  diskRefusal(): Refusal | undefined {
    const isShort = this.#askIfShort(this.#isDiskShort() ? 'disk' : undefined) !== undefined
    return isShort ? refusals.serverFull() : undefined
  }

  /** Resources may have become free, or the engine may answer by now: the next launch should not depend on the next interval. */
  #askIfShort(shortage: HostShortage | undefined): HostShortage | undefined {
    const isAskedSoon = shortage !== undefined || !this.#report
    if (isAskedSoon && performance.now() - this.#askedAt >= minRetryDelay) void this.ask()
    return shortage
  }

  #shortage(isNew: boolean): HostShortage | undefined {
    const { addressesLeft = null } = this.#report ?? {}
    const memory = this.#memory
    if (addressesLeft !== null && addressesLeft - this.#startedSince <= 0) return 'addresses'
    if (isNew && this.#isDiskShort()) return 'disk'
    return memory && memory.available < bytesOf(thresholds.memory.refuse, memory.total) ? 'memory' : undefined
  }

  #isDiskShort(): boolean {
    const disk = this.#report?.disk
    return disk ? disk.free < bytesOf(thresholds.disk.refuse, disk.total) : false
  }

  async #askOnce(): Promise<void> {
    this.#askedAt = performance.now()
    this.#noteMemory(await this.#runtime.hostMemory())
    try {
      const report = await withTimeout(queryTimeout, this.#runtime.host())
      if (!report) return
      this.#report = report
      this.#noteMemory(report.memory)
      this.#startedSince = 0
      this.#noteWarnings(warningsOf(report))
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  #noteMemory(memory: HostReport['memory']): void {
    if (!memory) return
    this.#memory = memory
    if (isMemoryLow({ memory })) this.#memoryShortAt = performance.now()
  }

  /** An operator has to know that launches are not refused; once, because an engine may be away for hours. */
  #noteFailure(err: unknown): void {
    const isNews = !this.#report && !this.#hasFailed
    this.#hasFailed = true
    if (isNews) this.#log.warn({ err }, 'the host could not be queried; disk and addresses do not count until it can')
    else this.#log.debug({ err }, 'the host could not be queried; its last report stays in use')
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
