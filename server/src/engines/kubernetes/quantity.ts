const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
}

/** A quantity of a cluster's API, such as `500m`, `10Gi` or `1e3`, as a number; NaN for what is none. */
export function quantity(text: string): number {
  const [, amount = '', unit = ''] = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([a-zA-Z]{0,2})$/.exec(text) ?? []
  return amount === '' ? Number.NaN : Number(amount) * (factors[unit] ?? Number.NaN)
}
