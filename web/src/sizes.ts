/** Size in bytes, name, and digits behind the point. */
type Unit = readonly [size: number, name: string, digits: number]

/** Those of registries, and those that limits are set in. */
export const units = {
  decimal: [
    [1e9, 'GB', 1],
    [1e6, 'MB', 0],
    [1e3, 'kB', 0],
  ],
  binary: [
    [2 ** 30, 'GiB', 1],
    [2 ** 20, 'MiB', 0],
    [2 ** 10, 'KiB', 0],
  ],
} as const satisfies Record<string, readonly Unit[]>

/** A part and its whole, both in the unit of the whole: "120 of 400 MB". @param part and whole in bytes */
export function partOf(part: number, whole: number, kind: keyof typeof units): string {
  const all: readonly Unit[] = units[kind]
  const [size, name, digits] = all.find(([least]) => whole >= least) ?? all.at(-1)!
  return `${(part / size).toFixed(digits)} of ${(whole / size).toFixed(digits)} ${name}`
}
