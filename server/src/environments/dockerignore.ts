/** Max patterns that are taken into account. */
const maxPatterns = 1_000

interface Pattern {
  readonly isException: boolean
  readonly matches: RegExp
}

/**
 * Reads a `.dockerignore`: of the patterns that a path, or a folder above it, matches, the last one decides. Source:
 * Docker documentation, "Build context".
 * @returns whether a path of the context, without a slash at its beginning, is left out
 */
export function readDockerignore(text: string): (path: string) => boolean {
  const patterns = text
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#') && line.trim() !== '')
    .slice(0, maxPatterns)
    .map(toPattern)
  return (path) => {
    const parts = path.split('/')
    const paths = parts.map((_, at) => parts.slice(0, at + 1).join('/'))
    return patterns.reduce(
      (isOut, { isException, matches }) => (paths.some((each) => matches.test(each)) ? !isException : isOut),
      false,
    )
  }
}

function toPattern(line: string): Pattern {
  const trimmed = line.trim()
  const isException = trimmed.startsWith('!')
  const glob = trimmed
    .slice(isException ? 1 : 0)
    .trim()
    .replace(/^(\.?\/)+|\/+$/g, '')
  const source = glob.replace(/\*\*\/?|\*|\?|\[[^\]]*\]|\\?[^]/g, (token) => {
    if (token === '**/') return '(?:[^/]+/)*'
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    if (token === '?') return '[^/]'
    if (token.startsWith('[') && token.length > 2) return `[${token.slice(1, -1).replace(/[\\[\]]/g, '\\$&')}]`
    return token.slice(-1).replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
  })
  return { isException, matches: readRegExp(`^${source}$`) }
}

/** A pattern that means nothing matches nothing. */
function readRegExp(source: string): RegExp {
  try {
    return new RegExp(source)
  } catch {
    return /^(?!)/
  }
}
