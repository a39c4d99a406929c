import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'

/** One instruction of a Dockerfile, on one line: continuations are joined, comments are gone. */
export interface Instruction {
  /** Number of the line that it begins on, from 1. */
  readonly line: number
  /** In upper case. */
  readonly keyword: Keyword
  /** Words that begin with two hyphens and come first, such as `--from=base`. */
  readonly flags: readonly string[]
  /** Everything behind the flags. */
  readonly rest: string
}

export interface Dockerfile {
  readonly escape: '\\' | '`'
  readonly instructions: readonly Instruction[]
}

const keywords = [
  'ADD',
  'ARG',
  'CMD',
  'COPY',
  'ENTRYPOINT',
  'ENV',
  'EXPOSE',
  'FROM',
  'HEALTHCHECK',
  'LABEL',
  'MAINTAINER',
  'ONBUILD',
  'RUN',
  'SHELL',
  'STOPSIGNAL',
  'USER',
  'VOLUME',
  'WORKDIR',
] as const
type Keyword = (typeof keywords)[number]

/** A Dockerfile that Berth refuses, in words for who wrote it. */
export class DockerfileProblem extends Error {
  readonly sentence: LocalizedMessage

  constructor(sentence: LocalizedMessage) {
    super(sentence.key)
    this.name = 'DockerfileProblem'
    this.sentence = sentence
  }
}

/** Max characters of a Dockerfile. */
export const maxDockerfile = 65_536

/**
 * Parses a Dockerfile. What engines of different ages read differently is refused: the result is written anew for the
 * engine (`build-plan.ts`), and has to mean there what was checked here.
 * @throws {DockerfileProblem}
 */
export function parseDockerfile(text: string): Dockerfile {
  if (text.length > maxDockerfile) throw new DockerfileProblem(message('environments.tooLong', { max: maxDockerfile }))
  const lines = text
    .replace(/^\uFEFF/, '')
    .replace(/\r(?=\n|$)/g, '')
    .split('\n')
  for (const [at, line] of lines.entries())
    // Another kind of line end, or a character that hides what a line says.
    if (/[^\P{C}\t]|[\u2028\u2029]/u.test(line)) throw problemAt('environments.controlCharacter', at + 1)
  const { escape, first } = readDirectives(lines)
  const instructions: Instruction[] = []
  for (let at = first; at < lines.length;) {
    const { text: joined, next } = joinContinuations(lines, at, escape)
    // Behind it is a space that the engine does not know, or nothing; the line that is written anew would be continued.
    if (joined.trimEnd().endsWith(escape)) throw problemAt('environments.doubleEscape', at + 1)
    if (joined.trim() !== '') instructions.push(parseInstruction(joined, at + 1))
    at = next
  }
  return { escape, instructions }
}

/** Sentences that name a line. */
type LineKey = `environments.${
  | 'addUrl'
  | 'beforeFrom'
  | 'controlCharacter'
  | 'directive'
  | 'doubleEscape'
  | 'flag'
  | 'heredoc'
  | 'ownLabel'
  | 'stageTwice'
  | 'trigger'
  | 'unclearImage'
  | 'unknownInstruction'}`

/** @param line number, from 1 @param what of it is wrong, cut to 200 characters */
export const problemAt = (key: LineKey, line: number, what = ''): DockerfileProblem =>
  new DockerfileProblem(message(key, { line, what: what.slice(0, 200) }))

/** Directives are comments at the very beginning: `# escape=`, `# syntax=`, `# check=`. Source: Dockerfile reference. */
function readDirectives(lines: readonly string[]): { escape: Dockerfile['escape']; first: number } {
  let escape: Dockerfile['escape'] = '\\'
  for (const [at, line] of lines.entries()) {
    const [, name = '', value = ''] = /^\s*#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(\S(?:.*\S)?)\s*$/.exec(line) ?? []
    if (name === '') return { escape, first: at }
    const isKnownSyntax = /^(docker\.io\/)?docker\/dockerfile(:[\w.-]+)?$/.test(value)
    if (/^escape$/i.test(name) && (value === '\\' || value === '`')) escape = value
    // Its program would be an image that reads the rest in its own way; that of Docker is what the engine reads anyway.
    else if (/^syntax$/i.test(name) && isKnownSyntax) continue
    else if (/^(escape|syntax)$/i.test(name)) throw problemAt('environments.directive', at + 1, line.trim())
  }
  return { escape, first: lines.length }
}

/** @returns the instruction that begins at a line, and the number of the line behind it, both from 0 */
function joinContinuations(
  lines: readonly string[],
  at: number,
  escape: string,
): { readonly text: string; readonly next: number } {
  let text = ''
  let next = at
  for (; next < lines.length; next++) {
    const line = lines[next] ?? ''
    // A comment or an empty line between continued lines is left out.
    const isLeftOut = line.trim() === '' || /^\s*#/.test(line)
    if (isLeftOut && text === '') return { text, next: next + 1 }
    if (isLeftOut) continue
    const trimmed = withoutEnd(line)
    if (!trimmed.endsWith(escape)) return { text: text + line, next: next + 1 }
    // Newer engines take two of them for one that is meant, older ones for a continuation.
    if (trimmed.endsWith(escape + escape)) throw problemAt('environments.doubleEscape', next + 1)
    text += trimmed.slice(0, -1)
    if (text === '') text = ' '
  }
  return { text, next }
}

/** Without spaces and tabs at its end. An expression would try each space of a long line up to its end. */
function withoutEnd(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end--
  return line.slice(0, end)
}

/** @param line number for messages @throws {DockerfileProblem} */
export function parseInstruction(text: string, line: number): Instruction {
  const [, word = '', behind = ''] = /^\s*(\S+)(?:[ \t]+(.*))?$/.exec(text) ?? []
  const keyword = keywords.find((each) => each === word.toUpperCase())
  if (!keyword) throw problemAt('environments.unknownInstruction', line, word)
  const flags: string[] = []
  let rest = behind.trim()
  while (rest.startsWith('--')) {
    const [flag = ''] = /^\S+/.exec(rest) ?? []
    // The engine would take quotes and escapes out of it before it reads its name.
    // `--` alone makes words of what looks like flags behind it.
    if (!/^--[\w=./:,@+${}-]+$/.test(flag)) throw problemAt('environments.flag', line, flag)
    rest = rest.slice(flag.length).trimStart()
    flags.push(flag)
  }
  const mayHaveHeredoc = ['RUN', 'COPY', 'ADD', 'ONBUILD'].includes(keyword)
  if (mayHaveHeredoc && /(^|[\s;|&(])\d*<<-?\s*["']?[A-Za-z_]/.test(rest)) throw problemAt('environments.heredoc', line)
  return { line, keyword, flags, rest }
}
