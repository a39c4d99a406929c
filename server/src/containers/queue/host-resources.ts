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

/** Between two questions, in ms; how long one may take; and how soon after a refusal another one is asked. */
const [queryInterval, queryTimeout, minRetryDelay] = [15_000, 6_000, 1_000]

/** A part of the whole, but at least so many bytes; never more than so many, nor than the other part. */
interface Threshold {
  readonly part: number
  readonly min: number
  readonly max: number
  readonly maxPart: number
}

/**
 * Below these nothing new is started, and operators are warned. Limits of memory are no reservations: a hundred containers
 * may have a gigabyte each on a host that has ten, so only what is really left counts. Of a large disk two per cent are a
 * lot, and of a small host's memory 256 MiB are.
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
/** Containers that still find an address; fewer are worth a warning. */
const fewAddresses = 100

/** Monitor of the host's free memory, disk and addresses: refuses launches below a threshold, and warns earlier. */
export class HostResources {
  readonly #runtime: Pick<Runtime, 'host'>
  readonly #log: Pick<Logger, 'warn' | 'info' | 'debug'>
  #report: HostReport | undefined
  #warnings: readonly LocalizedMessage[] = []
  #asking: Promise<void> | undefined
  #askedAt = -Infinity
  /** Containers that were started since the report, so that those between two questions count as well. */
  #startedSince = 0
  #timer: NodeJS.Timeout | undefined

  constructor(runtime: Pick<Runtime, 'host'>, log: Pick<Logger, 'warn' | 'info' | 'debug'>) {
    this.#runtime = runtime
    this.#log = log
  }

  /** Asks now and from now on. */
  start(): void {
    void this.ask()
    this.#timer = setInterval(() => void this.ask(), queryInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The last answer; undefined until there was one. */
  get report(): HostReport | undefined {
    return this.#report
  }

  /** Which resources are about to run out, and whether the host rules are missing; a sentence each for the operator. */
  warnings(): readonly LocalizedMessage[] {
    const { rules } = this.#report ?? {}
    if (!rules || rules.areSet) return this.#warnings
    return [...this.#warnings, message('warnings.noRules', { reason: rules.reason })]
  }

  /** Resolves within some seconds, whether the engine answered or not; then the last answer goes on to count. */
  async ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => (this.#asking = undefined))
    return this.#asking
  }

  /** A container is about to be started. */
  noteStart(): void {
    this.#startedSince++
  }

  /** Why the host cannot carry one more container. @param isNew it takes up room on the disk, too */
  refusal(isNew: boolean): Refusal | undefined {
    if (!this.#isShort(isNew)) return undefined
    // What was short may be there again: the next one should not have to wait for the next look.
    if (performance.now() - this.#askedAt >= minRetryDelay) void this.ask()
    return refusals.serverFull()
  }

  #isShort(isNew: boolean): boolean {
    if (!this.#report) return false
    const { addressesLeft, disk, memory } = this.#report
    if (addressesLeft !== null && addressesLeft - this.#startedSince <= 0) return true
    if (isNew && disk && disk.free < bytesOf(thresholds.disk.refuse, disk.total)) return true
    return memory !== null && memory.available < bytesOf(thresholds.memory.refuse, memory.total)
  }

  async #askOnce(): Promise<void> {
    this.#askedAt = performance.now()
    try {
      const report = await withTimeout(queryTimeout, this.#runtime.host())
      if (!report) return
      this.#report = report
      this.#startedSince = 0
      this.#noteWarnings(warningsOf(report))
    } catch (error) {
      this.#log.debug({ err: error }, 'the host could not be looked at; what was known of it goes on to count')
    }
  }

  /** Numbers change with each look; what is warned of is told by its first words. */
  #noteWarnings(warnings: readonly LocalizedMessage[]): void {
    const [before, now] = [this.#warnings.map(subjectOf), warnings.map(subjectOf)]
    for (const warning of warnings)
      if (!before.includes(subjectOf(warning))) this.#log.warn(localize(defaultLanguage, warning))
    for (const subject of before) if (!now.includes(subject)) this.#log.info(`${subject}: not any more`)
    this.#warnings = warnings
  }
}

function warningsOf({ addressesLeft, disk, memory }: HostReport): LocalizedMessage[] {
  const warnings: LocalizedMessage[] = []
  if (addressesLeft !== null && addressesLeft < fewAddresses)
    warnings.push(message('warnings.addresses', { left: addressesLeft }))
  if (disk && disk.free < bytesOf(thresholds.disk.warn, disk.total))
    warnings.push(message('warnings.disk', left(disk.free, disk.total, thresholds.disk.refuse)))
  if (memory && memory.available < bytesOf(thresholds.memory.warn, memory.total))
    warnings.push(message('warnings.memory', left(memory.available, memory.total, thresholds.memory.refuse)))
  return warnings
}

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
