import { setTimeout as sleep } from 'node:timers/promises'
import { refusals } from '#/errors.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { findContainer } from '#/store/containers/user-containers.ts'
import type { ContainerRef } from '../container-key.ts'
import type { Templates } from '../templates/template.ts'

/**
 * Lines a second, at most, that are read for one listener. Nobody can read more, and an app that writes without end would
 * otherwise keep this process from everybody else. They come late then; the engine throws away what it cannot keep.
 */
const maxLinesPerSecond = 1_000

export interface ContainerLogsParts {
  readonly database: Database
  readonly runtime: Runtime
  readonly templates: Templates
}

/** What the programs in somebody's own containers write. */
export class ContainerLogs {
  readonly #parts: ContainerLogsParts

  constructor(parts: ContainerLogsParts) {
    this.#parts = parts
  }

  /**
   * The engine's id of somebody's container whose output can be read: it need not run, and may be blocked.
   * @throws {Refusal} 400 unknown type · 404 there is none, or it is gone from the engine · 500 the engine does not answer
   */
  async find({ userId, type }: ContainerRef): Promise<string> {
    const { database, runtime, templates } = this.#parts
    if (!templates.get(type)) throw refusals.unknownType(templates.types)
    const record = await findContainer(database.db, userId, type)
    if (!record?.containerId) throw refusals.notFound('container')
    const found = await runtime.inspectId(record.containerId).catch((cause: unknown) => {
      throw refusals.logsFailed(cause)
    })
    // Labels are the truth: a record that names another's container opens nothing.
    if (found?.owner?.userId !== userId || found.owner.type !== type) throw refusals.notFound('container')
    return found.id
  }

  /**
   * Its last lines, then each new one; the next is read when the promise of the one before has resolved.
   * @param lines of the past, at most
   * @returns whether all was read until its program ended, or it went; false when the signal or the engine ended it before
   * @throws what is no fault of the engine's
   */
  async follow(containerId: string, lines: number, onLine: OnLine, signal: AbortSignal): Promise<boolean> {
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

/** The same, so slow that no second has more lines than may be. */
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
