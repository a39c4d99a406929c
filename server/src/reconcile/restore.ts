import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { within } from '#/attempt.ts'
import { ownedKey, type OwnedType } from '#/containers/owned-type.ts'
import type { Spawner } from '#/containers/spawner.ts'
import type { Templates } from '#/containers/template.ts'
import { list, message, type Message } from '#/messages/message.ts'
import { RuntimeError } from '#/runtime/runtime.ts'
import type { Db } from '#/store/database.ts'
import { findOwnedRecord, noteShouldRest, type OwnedRecord } from '#/store/records-with-owners.ts'
import { findUser } from '#/store/users.ts'
import type { Tally } from './tally.ts'

/** Restored at the same time; the spawner lets everybody who asks for a container go first. */
const parallel = 4
/** Attempts at each. After an engine was killed its first start of a container may fail over what was left behind. */
const attempts = 3
/** Before the second round, in ms; longer before each further one. */
const [pause, longestPause] = [2_000, 10_000]
/** How long a stop waits for what is under way, in ms; it goes on after that. */
const patience = 3_000
/** Containers named as given up; of more only the number is told. */
const mostNamed = 10

export interface RestorerParts {
  readonly db: Db
  readonly templates: Templates
  readonly spawner: Pick<Spawner, 'restore'>
  readonly tally: Tally
  readonly log: Logger
}

/**
 * Starts again what an engine that came back no longer runs. It is apart from the reconciler's runs, which would have to wait
 * for it: hundreds take minutes, and longer while people launch.
 */
export class Restorer {
  readonly #parts: RestorerParts
  readonly #pending = new Set<string>()
  #givenUp: OwnedType[] = []
  #abort = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(parts: RestorerParts) {
    this.#parts = parts
  }

  /** `ownedKey` of what is not done yet. */
  get pending(): ReadonlySet<string> {
    return this.#pending
  }

  /** Sentences for the operator about what could not be started again, since the engine came back last. */
  warnings(): Message[] {
    const named = this.#givenUp
      .slice(0, mostNamed)
      .map(({ userId, type }) => message('warnings.restored', { type, userId }))
    if (named.length === 0) return []
    const [names, more] = [list('comma', named), this.#givenUp.length - named.length]
    return [
      more > 0 ? message('warnings.notRestoredAndMore', { names, more }) : message('warnings.notRestored', { names }),
    ]
  }

  /** Begins with these; what was not done yet of those before is forgotten. */
  begin(all: readonly OwnedType[]): void {
    if (this.#isStopped) return
    this.forget()
    this.#givenUp = []
    const { signal } = (this.#abort = new AbortController())
    for (const each of all) this.#pending.add(ownedKey(each))
    this.#running = this.#restoreAll(all, signal)
  }

  /** The engine went away again: when it is back, another list is made. */
  forget(): void {
    this.#abort.abort()
    this.#pending.clear()
  }

  /** Nothing begins afterwards; what is not done yet is done by the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.forget()
    await within(patience, this.#running)
  }

  async #restoreAll(all: readonly OwnedType[], signal: AbortSignal): Promise<void> {
    const failures = new Map<string, number>()
    let left = all
    for (let round = 1; left.length > 0 && !signal.aborted; round++) {
      left = await this.#restoreEach(left, failures, signal)
      const rest = left.length > 0 ? Math.min(pause * round, longestPause) : 0
      await sleep(rest, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** @param failures by `ownedKey` @returns what has to be tried again */
  async #restoreEach(
    all: readonly OwnedType[],
    failures: Map<string, number>,
    signal: AbortSignal,
  ): Promise<OwnedType[]> {
    const [waiting, again]: [OwnedType[], OwnedType[]] = [[...all], []]
    const worker = async () => {
      for (let each = waiting.shift(); each && !signal.aborted; each = waiting.shift()) {
        const key = ownedKey(each)
        const outcome = await this.#restore(each)
        // Everything from here on is another list's.
        if (signal.aborted) return
        if (outcome === 'failed') failures.set(key, (failures.get(key) ?? 0) + 1)
        if (outcome === 'done') this.#pending.delete(key)
        else if ((failures.get(key) ?? 0) >= attempts) await this.#giveUp(each)
        else again.push(each)
      }
    }
    await Promise.all(Array.from({ length: parallel }, worker))
    return again
  }

  /** Never throws. @returns `unknown` when the engine did not answer, which is no fault of the container's */
  async #restore(owned: OwnedType): Promise<'done' | 'failed' | 'unknown'> {
    const { db, spawner, templates, tally, log } = this.#parts
    const { userId, type } = owned
    try {
      const [record, user] = [await findOwnedRecord(db, userId, type), await findUser(db, userId)]
      const template = templates.get(type)
      if (!record || !user || !template || !isWanted(record)) return 'done'
      await spawner.restore(user, template, new Date())
      tally.count('restore')
      log.info({ action: 'restore', userId, type }, 'reconciled')
      return 'done'
    } catch (error) {
      log.warn({ err: error, userId, type }, 'what ran before the engine restarted could not be started')
      return error instanceof RuntimeError && error.kind === 'unreachable' ? 'unknown' : 'failed'
    }
  }

  async #giveUp(owned: OwnedType): Promise<void> {
    const { db, log } = this.#parts
    this.#givenUp.push(owned)
    this.#pending.delete(ownedKey(owned))
    try {
      const record = await findOwnedRecord(db, owned.userId, owned.type)
      if (record) await noteShouldRest(db, [record.id])
    } catch (error) {
      log.warn({ err: error, ...owned }, 'noting that a container stays as it is failed')
    }
  }
}

/** It may have been blocked, or stopped, while it waited. */
const isWanted = ({ isBlocked, shouldRun }: OwnedRecord) => shouldRun && !isBlocked
