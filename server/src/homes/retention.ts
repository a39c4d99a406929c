import type { Snapshot } from './snapshot-files.ts'

/** The newest snapshots that are kept, besides one that is about a week old. */
const newestKept = 3
const week = 7 * 86_400_000

/**
 * Snapshots of one home to remove: all but the three newest, and the newest of those that are a week old. While none is,
 * the oldest stays, which becomes that one. The one just made always stays: after the clock was set back, others lie in the
 * future, and a reset would remove the home with its only snapshot.
 * @param snapshots in any order @param now ms since 1970 @param made id of the one just made
 */
export function outdatedSnapshots(snapshots: readonly Snapshot[], now: number, made: string): Snapshot[] {
  const rank = ({ id, createdAt }: Snapshot) => (id === made ? Infinity : Math.min(createdAt.getTime(), now))
  const newestFirst = snapshots.toSorted((a, b) => rank(b) - rank(a))
  const others = newestFirst.slice(newestKept)
  const weekOld = others.find(({ createdAt }) => now - createdAt.getTime() >= week) ?? others.at(-1)
  return others.filter((each) => each !== weekOld)
}
