import type { Import } from '#test/support/imports.ts'

/** Files at the root of the server that are drawn beside the folders; the other files there are imported from anywhere. */
const programs = ['main.ts', 'api-process.ts', 'adapters.ts', 'app.ts']
const [begin, end] = ['<!-- arrows: begin -->', '<!-- arrows: end -->'] as const

/** One line for each folder of the server: what it imports. Importers stand above what they import. */
export function drawArrows(imports: readonly Import[]): string {
  const arrows = arrowsOf(imports)
  const width = Math.max(...[...arrows.keys()].map((name) => name.length))
  const lines = inLayers(arrows).map((name) => {
    const targets = [...(arrows.get(name) ?? [])].sort(([one], [other]) => one.localeCompare(other))
    const words = targets.map(([target, isTypeOnly]) => (isTypeOnly ? `(${target})` : target))
    return words.length > 0 ? `${name.padEnd(width)} ──▶ ${words.join(', ')}` : name
  })
  return ['```', ...lines, '```'].join('\n')
}

/** The page with another drawing. @throws {Error} when it has no marks for one */
export function withArrows(page: string, drawing: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks ${begin} and ${end} are missing`)
  return `${page.slice(0, from)}${begin}\n\n${drawing}\n\n${page.slice(to)}`
}

type Arrows = ReadonlyMap<string, ReadonlyMap<string, boolean>>

/** By folder: the folders that it imports, and whether it imports only types of them. */
function arrowsOf(imports: readonly Import[]): Arrows {
  const arrows = new Map<string, Map<string, boolean>>()
  for (const { file, target, isTypeOnly } of imports) {
    const [from, to] = [nodeOf(file), nodeOf(target)]
    if (from === undefined || to === undefined || from === to) continue
    const targets = arrows.get(from) ?? new Map<string, boolean>()
    targets.set(to, (targets.get(to) ?? true) && isTypeOnly)
    arrows.set(from, targets)
    if (!arrows.has(to)) arrows.set(to, new Map())
  }
  return arrows
}

function nodeOf(file: string): string | undefined {
  const [, name, rest] = /^server\/src\/([^/]+)(\/.*)?$/.exec(file) ?? []
  return rest === undefined && !programs.includes(name ?? '') ? undefined : name
}

/** Those that nothing imports first, then what only they import, and so on. Type imports may run backwards. */
function inLayers(arrows: Arrows): string[] {
  const left = new Set([...arrows.keys()].sort())
  const drawn: string[] = []
  while (left.size > 0) {
    const isImported = (name: string) => [...left].some((other) => arrows.get(other)?.get(name) === false)
    const free = [...left].filter((name) => !isImported(name))
    // Among folders that import each other there is no first; import-circles.test.ts refuses circles between files.
    const next = free.length > 0 ? free : [...left]
    for (const name of next) left.delete(name)
    drawn.push(...next)
  }
  return drawn
}
