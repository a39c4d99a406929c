import { randomBytes } from 'node:crypto'
import { RuntimeError } from '#/runtime/runtime.ts'
import { limits, type EngineClient } from './client.ts'
import type { Volume } from './homes.ts'
import { probeLabels, probeFilter } from './labels.ts'

/** How long the engine's answer is good, in ms: an operator may mount its folder anew. */
const goodFor = 3_600_000

/** Options of a volume that cannot grow beyond so many bytes. */
export const boundTo = (bytes: number) => ({ Name: 'local', Options: { size: String(bytes) } })

/**
 * Whether the engine can bind the size of a volume: Docker's own driver can where its folder is on xfs or ext4 with project
 * quotas, and says "quota size requested but no quota support" elsewhere. Nothing but trying tells.
 */
export class HomeSize {
  readonly #client: EngineClient
  readonly #instance: string
  #isBindable: Promise<boolean> | undefined
  #askedAt = 0

  constructor(client: EngineClient, instance: string) {
    this.#client = client
    this.#instance = instance
  }

  /** @throws {RuntimeError} `unreachable`, and asks again the next time */
  async isBindable(): Promise<boolean> {
    if (performance.now() - this.#askedAt > goodFor) this.#isBindable = undefined
    const answer = (this.#isBindable ??= this.#try())
    try {
      return await answer
    } catch (error) {
      if (this.#isBindable === answer) this.#isBindable = undefined
      throw error
    }
  }

  async #try(): Promise<boolean> {
    this.#askedAt = performance.now()
    const Name = `${this.#instance}-probe-${randomBytes(4).toString('hex')}`
    const { Name: Driver, Options: DriverOpts } = boundTo(1024 ** 2)
    const body = { Name, Driver, DriverOpts, Labels: probeLabels(this.#instance) }
    const call = { what: 'try to bind the size of a volume', method: 'POST', path: '/volumes/create' } as const
    try {
      await this.#client.ask({ ...call, body, limit: limits.read })
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
      // Anything else may be better the next time: homes that are made meanwhile stay without a size for ever.
      if (!/no quota support/i.test(String(error.cause))) this.#askedAt = -Infinity
      return false
    }
    await this.#cleanUp()
    return true
  }

  /** Those that a process left which died in between, too. */
  async #cleanUp(): Promise<void> {
    const query = { filters: JSON.stringify({ label: probeFilter(this.#instance) }) }
    const what = 'remove a volume that was tried'
    const { Volumes } = await this.#client.ask<{ Volumes: readonly Volume[] | null }>({
      what,
      method: 'GET',
      path: '/volumes',
      query,
      limit: limits.read,
    })
    for (const { Name } of Volumes ?? [])
      await this.#client
        .ask({ what, method: 'DELETE', path: `/volumes/${Name}`, limit: limits.remove })
        // Another process of this installation was quicker.
        .catch(() => undefined)
  }
}
