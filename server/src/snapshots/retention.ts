import type { Snapshot } from './snapshot-files.ts'

/** The newest snapshots that are kept, besides one that is about a week old. */
const newestKept = 3
const week = 7 * 86_400_000

/**
 * Snapshots of one home to remove: all but the three newest, and the newest of those that are a week old. While none is,
 * the oldest stays, which becomes that one.
 * @param snapshots in any order @param now ms since 1970
 */
export function outdatedSnapshots(snapshots: readonly Snapshot[], now: number): Snapshot[] {
  const newestFirst = snapshots.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime())
  const others = newestFirst.slice(newestKept)
  const weekOld = others.find(({ createdAt }) => now - createdAt.getTime() >= week) ?? others.at(-1)
  return others.filter((each) => each !== weekOld)
}
