import { setTimeout as sleep } from 'node:timers/promises'
import type { CallName, EngineFigures } from '../engine-figures.ts'

/** Waits as long as a real engine, by a sample of the measured latencies. */
export class Latency {
  readonly #figures: EngineFigures
  #seed = 1

  constructor(figures: EngineFigures) {
    this.#figures = figures
  }

  async of(call: CallName): Promise<void> {
    await sleep(this.#draw(call))
  }

  /** A list that includes some containers and skips others, which the engine reads, too, but does not describe. */
  async ofList(listed: number, skipped: number): Promise<void> {
    const { perListedContainer, perPassedContainer } = this.#figures
    await sleep(this.#draw('listAll') + listed * perListedContainer + skipped * perPassedContainer)
  }

  async ofVolumes(volumes: number): Promise<void> {
    await sleep(this.#draw('volumes') + volumes * this.#figures.perListedVolume)
  }

  /** Linear between two neighbouring quantiles. */
  #draw(call: CallName): number {
    const quantiles = this.#figures.latencies[call]
    const at = this.#random() * (quantiles.length - 1)
    const [low = 0, high = low] = [quantiles[Math.floor(at)], quantiles[Math.ceil(at)]]
    return low + (high - low) * (at - Math.floor(at))
  }

  /** Lehmer's generator (Park and Miller, 1988): the same sequence in every run. */
  #random(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647
    return this.#seed / 2_147_483_647
  }
}
