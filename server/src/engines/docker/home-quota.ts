import { randomBytes } from 'node:crypto'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts, type EngineClient } from './engine-client.ts'
import type { Volume } from './home-volumes.ts'
import { probeLabels, probeFilter } from './labels.ts'

/** How long the engine's answer is good, in ms: an operator may mount its folder anew. */
const maxAge = 3_600_000

/** Options of a volume that cannot grow beyond so many bytes. */
export const quotaOptions = (bytes: number) => ({ Name: 'local', Options: { size: String(bytes) } })

/** Whether a volume was refused because the engine cannot bind the size of any. */
export const isWithoutQuotas = (error: unknown) =>
  error instanceof RuntimeError && /no quota support/i.test(String(error.cause))

/**
 * Whether the engine can bind the size of a volume: Docker's own driver can where its folder is on xfs or ext4 with project
 * quotas, and says "quota size requested but no quota support" elsewhere. Nothing but trying tells.
 */
export class HomeQuota {
  readonly #client: EngineClient
  readonly #installation: string
  #isSupported: Promise<boolean> | undefined
  #askedAt = 0

  constructor(client: EngineClient, installation: string) {
    this.#client = client
    this.#installation = installation
  }

  /** @throws {RuntimeError} `unreachable`, and asks again the next time */
  async isSupported(): Promise<boolean> {
    if (performance.now() - this.#askedAt > maxAge) this.#isSupported = undefined
    const answer = (this.#isSupported ??= this.#try())
    try {
      return await answer
    } catch (error) {
      if (this.#isSupported === answer) this.#isSupported = undefined
      throw error
    }
  }

  async #try(): Promise<boolean> {
    this.#askedAt = performance.now()
    const Name = `${this.#installation}-probe-${randomBytes(4).toString('hex')}`
    const { Name: Driver, Options: DriverOpts } = quotaOptions(1024 ** 2)
    const body = { Name, Driver, DriverOpts, Labels: probeLabels(this.#installation) }
    const call = { what: 'try to bind the size of a volume', method: 'POST', path: '/volumes/create' } as const
    try {
      await this.#client.ask({ ...call, body, timeout: callTimeouts.read })
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
      // Anything else may be better the next time: homes that are made meanwhile stay without a size for ever.
      if (!isWithoutQuotas(error)) this.#askedAt = -Infinity
      return false
    }
    await this.#cleanUp()
    return true
  }

  /** Those that a process left which died in between, too. */
  async #cleanUp(): Promise<void> {
    const query = { filters: JSON.stringify({ label: probeFilter(this.#installation) }) }
    const what = 'remove a volume that was tried'
    const { Volumes } = await this.#client.ask<{ Volumes: readonly Volume[] | null }>({
      what,
      method: 'GET',
      path: '/volumes',
      query,
      timeout: callTimeouts.read,
    })
    for (const { Name } of Volumes ?? [])
      await this.#client
        .ask({ what, method: 'DELETE', path: `/volumes/${Name}`, timeout: callTimeouts.remove })
        // Another process of this installation was quicker.
        .catch(() => undefined)
  }
}
