import type { VersionSource } from '#/store/environments.ts'

/** Max lines of what changed that are told, and characters of each. */
const [maxLines, maxLength] = [200, 200]

/**
 * What of a source is another than before, a line each: `- ` and what went, then `+ ` and what came. Lines that only
 * moved are left out, and so is what is beyond 200 lines. Of a repository the commit is one of them.
 */
export function changesOf(before: VersionSource, after: VersionSource): string[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const gone = without(old, now).map((line) => `- ${line}`)
  const added = without(now, old).map((line) => `+ ${line}`)
  return [...gone, ...added].slice(0, maxLines).map((line) => line.slice(0, maxLength))
}

function linesOf(source: VersionSource): string[] {
  if ('dockerfile' in source) return source.dockerfile.split(/\r?\n/).filter((line) => line.trim() !== '')
  return Object.entries(source).flatMap(([name, value]) => {
    const values: readonly string[] = typeof value === 'string' ? [value] : (value ?? [])
    return values.map((each) => `${name}: ${each.replaceAll('\n', ' ')}`)
  })
}

/** Lines that others do not have, as often as they have them less. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>()
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1)
  return lines.filter((line) => {
    const count = left.get(line) ?? 0
    left.set(line, count - 1)
    return count <= 0
  })
}
