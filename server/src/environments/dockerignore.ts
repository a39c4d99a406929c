import { setImmediate as afterOthers } from 'node:timers/promises'
import { message } from '@berth/texts/localized-message.ts'
import { DockerfileProblem } from './dockerfile.ts'

/** Max patterns that are taken into account, and characters of one. */
const [maxPatterns, maxPattern] = [1_000, 1_024]
/** Steps of a comparison after which others have their turn, and after which the file is refused. */
const [stepsOfTurn, maxSteps] = [1_000_000, 500_000_000]

/** A place in a pattern. */
interface State {
  /** How many places a character leads on from here; undefined: it does not match. */
  readonly next: (char: string) => number | undefined
  /** How many places it leads on without a character; 0: none. */
  readonly skip: number
}

interface Pattern {
  readonly isException: boolean
  readonly states: readonly State[]
}

/**
 * Reads a `.dockerignore`: of the patterns that a path, or a folder above it, matches, the last one decides. Source:
 * Docker documentation, "Build context". A person who writes the file chooses the paths, too: no pattern is given to the
 * expressions of this language, which may take years for one.
 * @returns whether a path of the context, without a slash at its beginning, is left out; it throws `DockerfileProblem`
 *   when comparing has taken too long
 */
export function readDockerignore(text: string): (path: string) => Promise<boolean> {
  const patterns = text
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#') && line.trim() !== '' && line.length <= maxPattern)
    .slice(0, maxPatterns)
    .map(toPattern)
  let [all, ofTurn] = [0, 0]
  return async (path) => {
    let isOut = false
    for (const { isException, states } of patterns) {
      const { isMatch, steps } = compare(states, path)
      if (isMatch) isOut = !isException
      all += steps
      ofTurn += steps
      if (all > maxSteps)
        throw new DockerfileProblem(message('environments.badFile', { file: '.dockerignore', why: `> ${maxSteps}` }))
      if (ofTurn < stepsOfTurn) continue
      ofTurn = 0
      await afterOthers()
    }
    return isOut
  }
}

function toPattern(line: string): Pattern {
  const trimmed = line.trim()
  const isException = trimmed.startsWith('!')
  const glob = trimmed
    .slice(isException ? 1 : 0)
    .trim()
    .replace(/^(\.?\/)+/, '')
    .replace(/(?<!\/)\/+$/, '')
  const tokens = glob.match(/\*\*\/?|\*|\?|\[[^\]]*\]|\\?[^]/g) ?? []
  return { isException, states: tokens.flatMap(statesOf) }
}

function statesOf(token: string): readonly State[] {
  const isInName = (char: string) => char !== '/'
  // Any number of folders: at the beginning of one, and in its name.
  if (token === '**/')
    return [
      { next: (char) => (isInName(char) ? 1 : undefined), skip: 2 },
      { next: (char) => (isInName(char) ? 0 : -1), skip: 0 },
    ]
  if (token === '**') return [{ next: () => 0, skip: 1 }]
  if (token === '*') return [{ next: (char) => (isInName(char) ? 0 : undefined), skip: 1 }]
  if (token === '?') return [one(isInName)]
  if (token.startsWith('[') && token.length > 2) {
    const set = readSet(`[${token.slice(1, -1).replace(/[\\[\]]/g, '\\$&')}]`)
    return [one((char) => set.test(char))]
  }
  const literal = token.slice(-1)
  return [one((char) => char === literal)]
}

const one = (matches: (char: string) => boolean): State => ({
  next: (char) => (matches(char) ? 1 : undefined),
  skip: 0,
})

/** Whether a pattern matches a path or a folder above it. All places that are possible are followed at once. */
function compare(states: readonly State[], path: string): { readonly isMatch: boolean; readonly steps: number } {
  let steps = 1
  let places = new Set<number>()
  const add = (to: Set<number>, place: number) => {
    for (let at = place; !to.has(at);) {
      to.add(at)
      at += states[at]?.skip ?? 0
    }
  }
  add(places, 0)
  for (let at = 0; at < path.length && places.size > 0; at++) {
    const char = path.charAt(at)
    if (char === '/' && places.has(states.length)) return { isMatch: true, steps }
    const following = new Set<number>()
    for (const place of places) {
      const by = states[place]?.next(char)
      if (by !== undefined) add(following, place + by)
    }
    steps += places.size
    places = following
  }
  return { isMatch: places.has(states.length), steps }
}

/** A set of characters that means nothing matches nothing. */
function readSet(source: string): RegExp {
  try {
    return new RegExp(source)
  } catch {
    return /^(?!)/
  }
}
