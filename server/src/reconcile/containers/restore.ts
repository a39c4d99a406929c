import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { withTimeout } from '#/concurrency/try-or-log.ts'
import { classifyFailure } from '#/containers/launch/failure-cause.ts'
import type { ContainerRef } from '#/containers/container-key.ts'
import type { RouteSync } from '#/containers/routing/route-sync.ts'
import type { Spawner } from '#/containers/launch/spawner.ts'
import type { Templates } from '#/containers/templates/template.ts'
import { list, message, type LocalizedMessage } from '#/messages/localized-message.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Db } from '#/store/database.ts'
import { findOwnedRecord, noteShouldStayStopped, type OwnedRecord } from '#/store/containers/owned-records.ts'
import { findUser } from '#/store/users/users.ts'
import { RestoreQueue, type Restoration } from './restore-queue.ts'
import type { ActionCounters } from './action-counters.ts'

/** Restored at the same time; the spawner lets everybody who asks for a container go first. */
const maxParallel = 4
/** Starts after which one that ends by itself each time is left alone; or after which others are told to operators. */
const maxAttempts = 3
/** How long a stop waits for what is under way, in ms; it goes on after that. */
const stopTimeout = 3_000
/** Containers named as not started; of more only the number is told. */
const maxNamed = 10

/** Pauses before the next attempt, in ms; each is doubled from the first to the last. */
export interface RestorePauses {
  /** Something was refused: no room on the server, engine or store do not answer. */
  readonly server: readonly [first: number, last: number]
  /** This one cannot be started. */
  readonly container: readonly [first: number, last: number]
  /** Between two looks whether anything is due. */
  readonly poll: number
}

const defaultPauses: RestorePauses = { server: [1_000, 15_000], container: [2_000, 300_000], poll: 250 }

export interface RestorerParts {
  readonly db: Db
  readonly templates: Templates
  readonly spawner: Pick<Spawner, 'restore'>
  readonly routeSync: Pick<RouteSync, 'isEngineAnswering'>
  readonly counters: ActionCounters
  readonly log: Logger
  readonly pauses?: Partial<RestorePauses>
}

/**
 * Starts again what an engine that came back no longer runs. It is apart from the reconciler's runs, which would have to wait
 * for it: hundreds take minutes, and longer while people launch, or while the server has no room. Only a container that ends
 * by itself is given up; everything else is tried again for as long as it takes, what people ask for first.
 */
export class Restorer {
  readonly #parts: RestorerParts
  readonly #pauses: RestorePauses
  #queue = new RestoreQueue()
  #givenUp: ContainerRef[] = []
  #abort = new AbortController()
  #workers: Promise<unknown> | undefined
  /** Pauses in a row, and until when the present one lasts; by `performance.now()`. */
  #refused = 0
  #refusedUntil = 0
  /** Refused since the present pause began. */
  readonly #refusedNow = new Set<Restoration>()
  /** Other containers that may be tried in the present pause. */
  #probes = 0
  #isStopped = false

  constructor(parts: RestorerParts) {
    this.#parts = parts
    this.#pauses = { ...defaultPauses, ...parts.pauses }
  }

  /** `ownedKey` of what is not done yet. */
  get pending(): ReadonlySet<string> {
    return this.#queue.keys
  }

  /** Sentences for the operator about what could not be started again, since the engine came back last. */
  warnings(): LocalizedMessage[] {
    const inTrouble = [...this.#queue.all()].filter(({ troubles }) => troubles >= maxAttempts)
    const all = [...this.#givenUp, ...inTrouble.map(({ owned }) => owned)]
    const named = all.slice(0, maxNamed).map(({ userId, type }) => message('warnings.restored', { type, userId }))
    if (named.length === 0) return []
    const [names, more] = [list('comma', named), all.length - named.length]
    return [
      more > 0 ? message('warnings.notRestoredAndMore', { names, more }) : message('warnings.notRestored', { names }),
    ]
  }

  /** Begins with these, behind what is not done yet of those before. */
  begin(all: readonly ContainerRef[]): void {
    if (this.#isStopped) return
    if (this.#queue.keys.size === 0) this.#givenUp = []
    for (const each of all) this.#queue.add(each)
    const { signal } = this.#abort
    this.#workers ??= Promise.all(Array.from({ length: maxParallel }, () => this.#work(signal))).finally(() => {
      if (signal.aborted) return
      this.#workers = undefined
      // Added after the last of them had found nothing more.
      if (this.#queue.keys.size > 0) this.begin([])
    })
  }

  /** Somebody visits or launches it: it comes before what nobody has asked for. */
  promote(owned: ContainerRef): void {
    this.#queue.promote(owned)
  }

  /** The engine went away again: when it is back, another list is made. */
  forget(): void {
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#queue = new RestoreQueue()
    this.#workers = undefined
  }

  /** Nothing begins afterwards; what is not done yet is done by the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const workers = this.#workers
    this.forget()
    if (workers) await withTimeout(stopTimeout, workers)
  }

  /** One at a time, until nothing is left. Never throws. */
  async #work(signal: AbortSignal): Promise<void> {
    const queue = this.#queue
    while (!signal.aborted && queue.keys.size > 0) {
      const next = this.#next(queue)
      if (next) await this.#attempt(next, queue, signal)
      else await sleep(this.#pauses.poll, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /**
   * Mostly a refusal is for all, so that nothing is tried before a pause is over, and then the first in line again. But what
   * is refused to the first, such as room on the disk for a new container, may be had by others: in each pause another one
   * is tried, each time one whose last attempt is longer ago, and more of them as long as they are not refused.
   */
  #next(queue: RestoreQueue): Restoration | undefined {
    if (performance.now() >= this.#refusedUntil) return queue.take()
    if (this.#probes === 0) return undefined
    const next = queue.takeOther(this.#refusedNow)
    if (next) this.#probes--
    return next
  }

  /** It begins a pause, or was a probe in one. */
  #noteRefusal(restoration: Restoration): void {
    const now = performance.now()
    if (now >= this.#refusedUntil) {
      this.#refusedUntil = now + backoff(this.#pauses.server, ++this.#refused)
      this.#refusedNow.clear()
      this.#probes = 1
    }
    this.#refusedNow.add(restoration)
  }

  /** Not everything is refused: others are tried, and the first in line again before long. */
  #noteProgress(): void {
    this.#refused = 0
    this.#refusedUntil = Math.min(this.#refusedUntil, performance.now() + this.#pauses.server[0])
    this.#probes = Math.min(maxParallel, this.#probes + 2)
  }

  async #attempt(restoration: Restoration, queue: RestoreQueue, signal: AbortSignal): Promise<void> {
    const outcome = await this.#restore(restoration)
    // Everything from here on is another list's.
    if (signal.aborted) return
    if (outcome === 'refused') {
      this.#noteRefusal(restoration)
      return queue.retryAfter(restoration, 0)
    }
    this.#noteProgress()
    if (outcome === 'done') return queue.remove(restoration)
    if (outcome === 'trouble') restoration.troubles++
    else restoration.crashes++
    if (restoration.crashes < maxAttempts)
      return queue.retryAfter(restoration, backoff(this.#pauses.container, restoration.troubles + restoration.crashes))
    queue.remove(restoration)
    await this.#giveUp(restoration.owned)
  }

  /** Never throws. */
  async #restore({ owned, troubles }: Restoration): Promise<Outcome> {
    const { db, spawner, templates, counters, log } = this.#parts
    const { userId, type } = owned
    try {
      const [record, user] = [await findOwnedRecord(db, userId, type), await findUser(db, userId)]
      const template = templates.get(type)
      if (!record || !user || !template || !isWanted(record)) return 'done'
      await spawner.restore(user, template, new Date())
      counters.add('restore')
      log.info({ action: 'restore', userId, type }, 'reconciled')
      return 'done'
    } catch (error) {
      const outcome = this.#outcomeOf(error)
      // What goes on for hours is told once.
      const isNews = outcome === 'refused' ? this.#refused === 0 : outcome === 'crashed' || troubles < maxAttempts
      if (isNews) log.warn({ err: error, userId, type }, 'what ran before the engine restarted could not be started')
      return outcome
    }
  }

  /** When an engine in good health does not answer about a container, that is the container's trouble alone. */
  #outcomeOf(error: unknown): Outcome {
    const isSilence = error instanceof RuntimeError && error.kind === 'unreachable'
    return isSilence && this.#parts.routeSync.isEngineAnswering ? 'trouble' : outcomes[classifyFailure(error)]
  }

  async #giveUp(owned: ContainerRef): Promise<void> {
    const { db, log } = this.#parts
    this.#givenUp.push(owned)
    try {
      const record = await findOwnedRecord(db, owned.userId, owned.type)
      if (record) await noteShouldStayStopped(db, [record.id])
    } catch (error) {
      log.warn({ err: error, ...owned }, 'noting that a container stays as it is failed')
    }
  }
}

/**
 * What an attempt led to: nothing is left to do; the program ended by itself; most likely nothing can be started now; or
 * something else is in the way of this one container, such as an image that cannot be had, or its owner's limits.
 */
type Outcome = 'done' | 'crashed' | 'refused' | 'trouble'

const outcomes = { container: 'crashed', server: 'refused', other: 'trouble' } as const satisfies Record<
  string,
  Outcome
>

const backoff = ([first, last]: readonly [number, number], attempts: number) =>
  Math.min(last, first * 2 ** Math.min(attempts - 1, 20))

/** It may have been blocked, or stopped, while it waited. */
const isWanted = ({ isBlocked, shouldRun }: OwnedRecord) => shouldRun && !isBlocked
