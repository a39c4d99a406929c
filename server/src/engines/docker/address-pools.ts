/** Addresses from which the engine gives each new network a part: `10.0.0.0/8` in parts of `/24`. */
export interface AddressPool {
  readonly Base: string
  /** Bits of each part's network. */
  readonly Size: number
}

/** Docker's own, when the operator names none: 31 parts. */
export const builtInPools: readonly AddressPool[] = [
  ...['172.17.0.0/16', '172.18.0.0/16', '172.19.0.0/16'].map((Base) => ({ Base, Size: 16 })),
  ...['172.20.0.0/14', '172.24.0.0/14', '172.28.0.0/14'].map((Base) => ({ Base, Size: 16 })),
  { Base: '192.168.0.0/16', Size: 20 },
]

/** Parts of one size that are free. */
export interface FreeParts {
  readonly count: number
  /** Addresses for containers in each. */
  readonly addresses: number
}

/**
 * What is left of the pools. An estimate: the engine also leaves out what the host has routes to.
 * @param taken networks such as `172.17.0.0/16` that lie in the pools or elsewhere; IPv6 and nonsense are passed over
 */
export function freeParts(pools: readonly AddressPool[], taken: readonly string[]): FreeParts[] {
  const ranges = taken.flatMap((network) => toRange(network) ?? [])
  return pools.flatMap(({ Base, Size }) => {
    const base = toRange(Base)
    if (!base || Size > 32) return []
    const length = 2 ** (32 - Size)
    return {
      count: Math.max(0, (base.end - base.start) / length - touched(base, length, ranges)),
      addresses: Math.max(0, length - 3),
    }
  })
}

interface Range {
  readonly start: number
  /** The first address behind it. */
  readonly end: number
}

/** How many parts of this length share an address with any of the ranges. */
function touched(base: Range, length: number, ranges: readonly Range[]): number {
  const inside = ranges.filter(({ start, end }) => start < base.end && end > base.start)
  let count = 0
  let counted = 0
  for (const { start, end } of inside.toSorted((one, other) => one.start - other.start)) {
    const first = Math.max(counted, Math.floor((Math.max(start, base.start) - base.start) / length))
    const last = Math.ceil((Math.min(end, base.end) - base.start) / length)
    count += Math.max(0, last - first)
    counted = Math.max(counted, last)
  }
  return count
}

function toRange(network: string): Range | undefined {
  const [, address, bits] = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(network) ?? []
  if (address === undefined || Number(bits) > 32) return undefined
  const length = 2 ** (32 - Number(bits))
  const number = address.split('.').reduce((sum, each) => sum * 256 + Number(each), 0)
  const start = Math.floor(number / length) * length
  return { start, end: start + length }
}
