import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { withTimeout } from '#/machine/try-or-log.ts'
import { ExitedOnStart, classifyFailure, explainFailure, isOutOfMemory } from '#/containers/launch/launch-failure.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { HostResources } from '#/containers/launch/host-resources.ts'
import type { Spawner } from '#/containers/launch/spawner.ts'
import type { Templates } from '#/templates/template.ts'
import { list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { Db } from '#/store/database.ts'
import { findOwnedRecord, noteShouldStayStopped, type OwnedRecord } from '#/store/owned-records.ts'
import { findUser } from '#/store/users.ts'
import {
  Probation,
  RestoreBackoff,
  RestoreQueue,
  backoff,
  defaultPauses,
  type EarlyEnd,
  type Restoration,
  type RestorePauses,
} from './restore-queue.ts'
import type { ActionCounters } from './action-executor.ts'

/** Max parallel restorations; the launch queue serves requests of users first. */
const maxParallel = 4
/**
 * Attempts after which a container that ends by itself each time is given up, and after which other failures are
 * reported to operators.
 */
const maxAttempts = 3
/** Timeout of `stop`, in ms; restorations in progress continue after that. */
const stopTimeout = 3_000
/** Max containers that a warning names; above it only the number. */
const maxNamed = 10

export interface RestorerParts {
  readonly db: Db
  readonly templates: Templates
  readonly runtime: Pick<Runtime, 'inspectId' | 'logs'>
  readonly spawner: Pick<Spawner, 'restore'>
  readonly routeSync: Pick<RouteSync, 'isEngineAnswering'>
  readonly hostResources: Pick<HostResources, 'isMemoryShort'>
  readonly counters: ActionCounters
  readonly log: Logger
  readonly pauses?: Partial<RestorePauses>
}

/**
 * Restores containers that an engine no longer runs after an outage. Separate from the reconciler's runs, which would
 * have to wait: hundreds take minutes, and longer while users launch, or while there is no capacity. Only a container
 * that ends by itself, at its start or within a minute after it, is given up; any other is retried with backoff without limit,
 * requested ones first.
 */
export class Restorer {
  readonly #parts: RestorerParts
  readonly #pauses: RestorePauses
  readonly #backoff: RestoreBackoff
  readonly #probation: Probation
  #queue = new RestoreQueue()
  #givenUp: ContainerRef[] = []
  /** Pending restorations at the last loss of the engine. */
  #interrupted: readonly ContainerRef[] = []
  #abort = new AbortController()
  #workers: Promise<unknown> | undefined
  #isStopped = false

  constructor(parts: RestorerParts) {
    this.#parts = parts
    this.#pauses = { ...defaultPauses, ...parts.pauses }
    this.#backoff = new RestoreBackoff(this.#pauses.server, maxParallel)
    this.#probation = new Probation(() => parts.hostResources.isMemoryShort())
  }

  /** `containerKey` of pending restorations. */
  get pending(): ReadonlySet<string> {
    return this.#queue.keys
  }

  /** Warnings for the operator about containers that could not be restored since the last outage. */
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

  /**
   * Adds these behind the pending ones, and begins. Those that were pending at the last loss of the engine come first: its list
   * lacks a container that was being made anew then.
   */
  begin(all: readonly ContainerRef[]): void {
    if (this.#queue.keys.size === 0) this.#givenUp = []
    this.#add([...this.#interrupted, ...all])
  }

  /** The engine ran on, only the connection was lost: continues with what was pending then. */
  resume(): void {
    this.#add(this.#interrupted)
  }

  /** A program ended, whatever the cause. */
  noteEnd(owned: ContainerRef): void {
    this.#probation.noteEnd(owned)
  }

  /**
   * A container that should run does not, because its program ended by itself. One that was restored a short time before is pending
   * again: its end counts as one of its start.
   * @returns whether it is
   */
  retryEnded(owned: ContainerRef, containerId: string): boolean {
    const restoration = this.#isStopped ? undefined : this.#probation.takeEnded(owned, containerId)
    if (!restoration) return false
    this.#queue.addAgain(restoration)
    this.#begin()
    return true
  }

  #add(all: readonly ContainerRef[]): void {
    if (this.#isStopped) return
    this.#interrupted = []
    for (const each of all) this.#queue.add(each)
    this.#begin()
  }

  #begin(): void {
    const { signal } = this.#abort
    this.#workers ??= Promise.all(Array.from({ length: maxParallel }, () => this.#work(signal))).finally(() => {
      if (signal.aborted) return
      this.#workers = undefined
      // Added after the last worker had found the queue empty.
      if (this.#queue.keys.size > 0) this.#begin()
    })
  }

  /** A user requests it: moves it before those that were not requested. */
  promote(owned: ContainerRef): void {
    this.#queue.promote(owned)
  }

  /**
   * The engine went away again: nothing is pending until `resume`, or until `begin` with the list of an engine that was
   * restarted.
   */
  interrupt(): void {
    if (this.#queue.keys.size > 0) this.#interrupted = [...this.#queue.all()].map(({ owned }) => owned)
    this.#abort.abort()
    this.#abort = new AbortController()
    this.#queue = new RestoreQueue()
    this.#workers = undefined
  }

  /** No restoration begins afterwards; the next process continues with the pending ones. */
  async stop(): Promise<void> {
    this.#isStopped = true
    const workers = this.#workers
    this.interrupt()
    if (workers) await withTimeout(stopTimeout, workers)
  }

  /** One worker: restores one at a time until the queue is empty. Never throws. */
  async #work(signal: AbortSignal): Promise<void> {
    const queue = this.#queue
    while (!signal.aborted && queue.keys.size > 0) {
      const next = this.#backoff.next(queue)
      if (next) await this.#attempt(next, queue, signal)
      else await sleep(this.#pauses.poll, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #attempt(restoration: Restoration, queue: RestoreQueue, signal: AbortSignal): Promise<void> {
    const { end } = restoration
    const outcome = await (end ? this.#judge(restoration, end) : this.#restore(restoration))
    if (outcome === 'started') this.#probation.begin(restoration)
    // From here on another list is in use.
    if (signal.aborted) return
    if (outcome === 'refused') {
      this.#backoff.noteRefusal(restoration)
      return queue.retryAfter(restoration, 0)
    }
    this.#backoff.noteProgress()
    if (outcome === 'done' || outcome === 'started') return queue.remove(restoration)
    restoration.end = undefined
    if (outcome === 'killed') {
      queue.remove(restoration)
      return this.#noteStaysStopped(restoration.owned)
    }
    if (outcome === 'trouble') restoration.troubles++
    else restoration.crashes++
    if (restoration.crashes < maxAttempts)
      return queue.retryAfter(restoration, backoff(this.#pauses.container, restoration.troubles + restoration.crashes))
    queue.remove(restoration)
    this.#givenUp.push(restoration.owned)
    await this.#noteStaysStopped(restoration.owned)
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
      return 'started'
    } catch (error) {
      const outcome = await this.#outcomeOf(error)
      // A failure that lasts for hours is logged once.
      const isNews = outcome === 'refused' ? !this.#backoff.isActive : outcome === 'crashed' || troubles < maxAttempts
      if (isNews) log.warn({ err: error, userId, type }, 'restoring a container after an outage of the engine failed')
      return outcome
    }
  }

  /** What an end after the start says of the attempt. Never throws. */
  async #judge({ owned, troubles }: Restoration, { containerId, wasMemoryShort }: EarlyEnd): Promise<Outcome> {
    const { runtime, log } = this.#parts
    try {
      const found = await runtime.inspectId(containerId)
      // The container was started again meanwhile, or is gone.
      if (!found || !hasEnded(found)) return 'done'
      // Its work is done, or its owner ended it.
      if (found.exitCode === 0) return 'killed'
      const failure = await explainFailure(runtime, new ExitedOnStart(found.name, found))
      log.warn({ err: failure, ...owned }, 'a container ended a short time after it was restored')
      if (classifyFailure(failure) === 'container' && !isOutOfMemory(failure)) return 'crashed'
      if ((await wasMemoryShort) || (await this.#parts.hostResources.isMemoryShort())) return 'trouble'
      return isOutOfMemory(failure) ? 'crashed' : 'killed'
    } catch (err) {
      if (troubles < maxAttempts) log.warn({ err, ...owned }, 'looking at the end of a restored container failed')
      return this.#outcomeOf(err)
    }
  }

  /** If a healthy engine does not answer about a container, that concerns this container alone. */
  async #outcomeOf(error: unknown): Promise<Outcome> {
    const isSilence = error instanceof RuntimeError && error.kind === 'unreachable'
    if (isSilence && this.#parts.routeSync.isEngineAnswering) return 'trouble'
    const isMemoryShort = isOutOfMemory(error) && (await this.#parts.hostResources.isMemoryShort())
    // Not `refused`, which holds up all others: where memory is always short, it may have reached its own limit.
    return isMemoryShort ? 'trouble' : outcomes[classifyFailure(error)]
  }

  async #noteStaysStopped(owned: ContainerRef): Promise<void> {
    const { db, log } = this.#parts
    try {
      const record = await findOwnedRecord(db, owned.userId, owned.type)
      if (record) await noteShouldStayStopped(db, [record.id])
    } catch (error) {
      log.warn({ err: error, ...owned }, 'storing that a container stays stopped failed')
    }
  }
}

/**
 * Outcome of an attempt. `done`: nothing is left to do. `started`: it runs. `crashed`: the program ended by itself. `killed`:
 * after its start another program ended it, which is to stay so. `refused`: most likely
 * nothing can be started now. `trouble`: another failure of this container alone, such as an image that cannot be
 * pulled, or a limit of its owner; or the kernel's choice of this container while the host lacks memory.
 */
type Outcome = 'done' | 'started' | 'crashed' | 'killed' | 'refused' | 'trouble'

const outcomes = { container: 'crashed', server: 'refused', other: 'trouble' } as const satisfies Record<
  string,
  Outcome
>

const hasEnded = ({ state }: RuntimeContainer) => state === 'exited' || state === 'dead'

/** A container may have been blocked, or stopped, while it was queued. */
const isWanted = ({ isBlocked, shouldRun }: OwnedRecord) => shouldRun && !isBlocked
