/** 21 quantiles: 0 %, 5 % ... 100 %. */
export function quantilesOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))] ?? 0
  return Array.from({ length: 21 }, (_, step) => Number(at(step / 20).toFixed(3)))
}

/** Draws latencies from quantiles, linear between two neighbours; the same sequence in every run. */
export class LatencySampler<Call extends string> {
  readonly #latencies: Readonly<Record<Call, readonly number[]>>
  #seed = 1

  constructor(latencies: Readonly<Record<Call, readonly number[]>>) {
    this.#latencies = latencies
  }

  /** In ms. */
  draw(call: Call): number {
    const quantiles = this.#latencies[call]
    const at = this.#random() * (quantiles.length - 1)
    const [low = 0, high = low] = [quantiles[Math.floor(at)], quantiles[Math.ceil(at)]]
    return low + (high - low) * (at - Math.floor(at))
  }

  /** Lehmer's generator (Park and Miller, 1988). */
  #random(): number {
    this.#seed = (this.#seed * 48_271) % 2_147_483_647
    return this.#seed / 2_147_483_647
  }
}
