import { setTimeout as sleep } from 'node:timers/promises'
import type { CallName, EngineFigures } from '../engine-figures.ts'
import { LatencySampler } from '../quantiles.ts'

/** Waits as long as a real engine, by a sample of the measured latencies. */
export class Latency {
  readonly #figures: EngineFigures
  readonly #sampler: LatencySampler<CallName>

  constructor(figures: EngineFigures) {
    this.#figures = figures
    this.#sampler = new LatencySampler(figures.latencies)
  }

  async of(call: CallName): Promise<void> {
    await sleep(this.#sampler.draw(call))
  }

  /** A list that includes some containers and skips others, which the engine reads, too, but does not describe. */
  async ofList(listed: number, skipped: number): Promise<void> {
    const { perListedContainer, perPassedContainer } = this.#figures
    await sleep(this.#sampler.draw('listAll') + listed * perListedContainer + skipped * perPassedContainer)
  }

  async ofVolumes(volumes: number): Promise<void> {
    await sleep(this.#sampler.draw('volumes') + volumes * this.#figures.perListedVolume)
  }
}
