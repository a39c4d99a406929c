import type { Logger } from 'pino'
import { within } from '#/attempt.ts'
import { refusals, type Refusal } from '#/errors.ts'
import { usualLanguage } from '#/language.ts'
import { message, type Message } from '#/messages/message.ts'
import { say } from '#/messages/say.ts'
import type { HostReport, Runtime } from '#/runtime/runtime.ts'
import { bytesInWords } from './bytes-in-words.ts'

const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

/** Between two questions, in ms; how long one may take; and how soon after a refusal another one is asked. */
const [askEvery, askLimit, askAgainAfter] = [15_000, 6_000, 1_000]

/** A part of the whole, but at least so many bytes; never more than so many, nor than the other part. */
interface Threshold {
  readonly part: number
  readonly least: number
  readonly most: number
  readonly mostPart: number
}

/**
 * Below these nothing new is started, and operators are warned. Limits of memory are no reservations: a hundred containers
 * may have a gigabyte each on a host that has ten, so only what is really left counts. Of a large disk two per cent are a
 * lot, and of a small host's memory 256 MiB are.
 */
const thresholds = {
  disk: {
    refuse: { part: 0.02, least: GiB, most: 10 * GiB, mostPart: 0.1 },
    warn: { part: 0.1, least: 4 * GiB, most: 50 * GiB, mostPart: 0.25 },
  },
  memory: {
    refuse: { part: 0.02, least: 256 * MiB, most: GiB, mostPart: 0.125 },
    warn: { part: 0.1, least: 512 * MiB, most: 4 * GiB, mostPart: 0.25 },
  },
} as const
/** Containers that still find an address; fewer are worth a warning. */
const fewAddresses = 100

/** Watches what the host has left, refuses what it could not carry, and says so before. */
export class HostGuard {
  readonly #runtime: Pick<Runtime, 'host'>
  readonly #log: Pick<Logger, 'warn' | 'info' | 'debug'>
  #report: HostReport | undefined
  #warnings: readonly Message[] = []
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
    this.#timer = setInterval(() => void this.ask(), askEvery).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The last answer; undefined until there was one. */
  get report(): HostReport | undefined {
    return this.#report
  }

  /** What is about to run out, each a sentence for the operator. */
  warnings(): readonly Message[] {
    return this.#warnings
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
    if (performance.now() - this.#askedAt >= askAgainAfter) void this.ask()
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
      const report = await within(askLimit, this.#runtime.host())
      if (!report) return
      this.#report = report
      this.#startedSince = 0
      this.#noteWarnings(warningsOf(report))
    } catch (error) {
      this.#log.debug({ err: error }, 'the host could not be looked at; what was known of it goes on to count')
    }
  }

  /** Numbers change with each look; what is warned of is told by its first words. */
  #noteWarnings(warnings: readonly Message[]): void {
    const [before, now] = [this.#warnings.map(subjectOf), warnings.map(subjectOf)]
    for (const warning of warnings)
      if (!before.includes(subjectOf(warning))) this.#log.warn(say(usualLanguage, warning))
    for (const subject of before) if (!now.includes(subject)) this.#log.info(`${subject}: not any more`)
    this.#warnings = warnings
  }
}

function warningsOf({ addressesLeft, disk, memory }: HostReport): Message[] {
  const warnings: Message[] = []
  if (addressesLeft !== null && addressesLeft < fewAddresses)
    warnings.push(message('warnings.addresses', { left: addressesLeft }))
  if (disk && disk.free < bytesOf(thresholds.disk.warn, disk.total))
    warnings.push(message('warnings.disk', left(disk.free, disk.total, thresholds.disk.refuse)))
  if (memory && memory.available < bytesOf(thresholds.memory.warn, memory.total))
    warnings.push(message('warnings.memory', left(memory.available, memory.total, thresholds.memory.refuse)))
  return warnings
}

const left = (free: number, total: number, refuse: Threshold) => ({
  free: bytesInWords(free),
  total: bytesInWords(total),
  least: bytesInWords(bytesOf(refuse, total)),
})

function subjectOf(warning: Message): string {
  const text = say(usualLanguage, warning)
  return text.slice(0, text.indexOf(':'))
}

const bytesOf = ({ part, least, most, mostPart }: Threshold, total: number) =>
  Math.min(most, mostPart * total, Math.max(least, part * total))
