import { setTimeout as sleep } from 'node:timers/promises'
import { refusals } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import { findContainer, type ContainerRef, type UserContainer } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import type { StreamRegistry, StreamOwner } from './stream-registry.ts'

/**
 * Rate limit of one stream, in lines per second: an app that writes without end must not occupy this process. Lines above
 * it arrive late; the engine discards what it cannot buffer.
 */
const maxLinesPerSecond = 1_000

export interface ContainerLogsParts {
  readonly database: Database
  readonly runtime: Runtime
  readonly templates: Templates
  readonly streams: StreamRegistry
}

/** An open log stream: its container and what ends it. */
export interface LogReading {
  readonly containerId: string
  /** Aborted when the stream ends: closed, revoked, or Berth stops. */
  readonly signal: AbortSignal
  /** Ends the stream; further calls do nothing. */
  readonly close: () => void
}

/** Output of containers: followed by their owners, the last lines for administrators. */
export class ContainerLogs {
  readonly #parts: ContainerLogsParts

  constructor(parts: ContainerLogsParts) {
    this.#parts = parts
  }

  /**
   * Opens a log stream of the owner's container. It counts before the engine is asked, which may take seconds: a user who
   * is blocked meanwhile must not begin to read.
   * @throws {Refusal} 429, 503 as `StreamRegistry.open` · otherwise as `#find`; then no stream is open
   */
  async open(owner: StreamOwner, type: string): Promise<LogReading> {
    const reading = new AbortController()
    const remove = this.#parts.streams.open('logs', owner, () => reading.abort())
    const close = () => {
      remove()
      reading.abort()
    }
    try {
      const containerId = await this.#find({ userId: owner.userId, type })
      return { containerId, signal: reading.signal, close }
    } catch (error) {
      close()
      throw error
    }
  }

  /**
   * The last lines since its last start; of a type that is not configured any more, too.
   * @param lines max number @returns oldest first @throws {Refusal} 404 · 500 as `#find`
   */
  async last(container: UserContainer, lines: number): Promise<string[]> {
    const id = await this.#idOf(container)
    return this.#parts.runtime.logs(id, lines).catch((cause: unknown) => {
      throw refusals.logsFailed(cause)
    })
  }

  /**
   * Id of the container in the engine; it need not run, and may be blocked.
   * @throws {Refusal} 400 unknown type · 404 no container, or the engine has none · 500 the engine does not answer
   */
  async #find({ userId, type }: ContainerRef): Promise<string> {
    const { database, templates } = this.#parts
    if (!templates.get(type)) throw refusals.unknownType(templates.openTypes)
    return this.#idOf(await findContainer(database.db, userId, type))
  }

  /** @throws {Refusal} 404 · 500 as `#find` */
  async #idOf(record: UserContainer | undefined): Promise<string> {
    if (!record?.containerId) throw refusals.notFound('container')
    const { userId, type } = record
    const found = await this.#parts.runtime.inspectId(record.containerId).catch((cause: unknown) => {
      throw refusals.logsFailed(cause)
    })
    // The labels decide: a record that names another user's container opens nothing.
    if (found?.owner?.userId !== userId || found.owner.type !== type) throw refusals.notFound('container')
    return found.id
  }

  /**
   * Reads the last lines, then each new one; the next is read when the promise of the one before has resolved.
   * @param lines max number of earlier lines
   * @returns whether all was read until the program ended or the container was removed; false when the stream was closed
   * or the engine ended it before
   * @throws errors that are not the engine's
   */
  async follow({ containerId, signal }: LogReading, lines: number, onLine: OnLine): Promise<boolean> {
    try {
      await this.#parts.runtime.followLogs(containerId, lines, rateLimited(onLine, signal), signal)
      return !signal.aborted
    } catch (error) {
      if (signal.aborted) return false
      if (error instanceof RuntimeError) return error.kind === 'missing'
      throw error
    }
  }
}

type OnLine = (line: string) => Promise<void>

/** Delays lines to `maxLinesPerSecond`. */
function rateLimited(onLine: OnLine, signal: AbortSignal): OnLine {
  let [lines, endsAt] = [0, 0]
  return async (line) => {
    const left = endsAt - performance.now()
    if (lines >= maxLinesPerSecond && left > 0) await sleep(left, undefined, { signal }).catch(() => undefined)
    if (lines >= maxLinesPerSecond || left <= 0) [lines, endsAt] = [0, performance.now() + 1_000]
    lines++
    return onLine(line)
  }
}
