import { message } from '@berth/texts/localized-message.ts'
import type { BaseImage } from '#/engines/image-builds.ts'
import {
  DockerfileProblem,
  parseDockerfile,
  parseInstruction,
  problemAt,
  type Dockerfile,
  type Instruction,
} from './dockerfile.ts'
import { isImageReference } from './image-references.ts'

/** Where files of `FROM` or `COPY --from` come from: an earlier stage by its number, an image by its name, or nothing. */
type Source = { readonly stage: number } | { readonly image: string } | 'scratch'

interface Step {
  readonly instruction: Instruction
  /** Of `COPY --from`. */
  readonly from?: Source
}

interface Stage {
  readonly base: Source
  readonly steps: readonly Step[]
}

/** A Dockerfile whose every source of files is known. */
export interface BuildPlan {
  readonly escape: Dockerfile['escape']
  /** `ARG` before the first `FROM`, whose values stages can take over. */
  readonly args: readonly Instruction[]
  readonly stages: readonly Stage[]
  /** Names of images that it reads, as they are written, each once. */
  readonly images: readonly string[]
  /** Whether the program of the image is to run as the account of the base, whatever the last step said. */
  readonly keepsUser: boolean
}

type Values = ReadonlyMap<string, string | undefined>

/**
 * Finds out which images a Dockerfile reads, with the values of `ARG` filled in, and refuses what cannot be decided
 * before it runs, and what would reach beyond the build: a mount of another image, a URL, which the engine itself would
 * fetch, and labels by which Berth knows what belongs to it.
 * @throws {DockerfileProblem} with the number of the line
 */
export function planBuild(text: string, { keepsUser = false } = {}): BuildPlan {
  const { escape, instructions } = parseDockerfile(text)
  const first = instructions.findIndex(({ keyword }) => keyword === 'FROM')
  if (first === -1) throw new DockerfileProblem(message('environments.noFrom'))
  const args = instructions.slice(0, first)
  for (const { keyword, line } of args) if (keyword !== 'ARG') throw problemAt('environments.beforeFrom', line, keyword)
  const values = globalValues(args)
  const names: (string | null)[] = []
  const stages: { base: Source; steps: Step[] }[] = []
  for (const instruction of instructions.slice(first)) {
    if (instruction.keyword === 'FROM') {
      const { base, name } = readFrom(instruction, values, names)
      stages.push({ base, steps: [] })
      names.push(name)
      continue
    }
    checkInstruction(instruction, false)
    const from = instruction.keyword === 'COPY' ? copySource(instruction, names) : undefined
    stages.at(-1)?.steps.push({ instruction, ...(from && { from }) })
  }
  const sources = stages.flatMap(({ base, steps }) => [base, ...steps.flatMap(({ from }) => from ?? [])])
  const images = new Set(sources.flatMap((each) => (typeof each === 'object' && 'image' in each ? each.image : [])))
  return { escape, args, stages, images: [...images], keepsUser }
}

/** Values of `ARG` before `FROM`; undefined where it depends on rules of quoting that this does not follow. */
function globalValues(args: readonly Instruction[]): Values {
  const values = new Map<string, string | undefined>()
  for (const { rest } of args) {
    const unclear = new Set([...rest.matchAll(/(?<!\S)([A-Za-z_]\w*)(?==|\s|$)/g)].map(([, name = '']) => name))
    const isClear = !/\\|["'].*["'].*["']/.test(rest)
    const clear = /(?<!\S)([A-Za-z_]\w*)(?:=("[^"\\]*"|'[^'\\]*'|[^\s"'\\]*))?(?=\s|$)/g
    for (const [, name = '', value = ''] of isClear ? rest.matchAll(clear) : []) {
      const isLiteral = value.startsWith("'")
      const bare = value.replace(/^(["'])(.*)\1$/, '$2')
      values.set(name, isLiteral ? bare : expand(bare, values))
      unclear.delete(name)
    }
    for (const name of unclear) values.set(name, undefined)
  }
  return values
}

/** Max characters of a value: a name of an image is shorter, and a few lines could double one each. */
const maxValue = 1_024

/** Fills in `$NAME`, `${NAME}`, `${NAME:-other}` and `${NAME:+other}`; undefined for anything else that a shell knows. */
function expand(text: string, values: Values): string | undefined {
  let isKnown = true
  const filled = text.replace(
    /\$(?:(\w+)|\{(\w+)(?::([-+])([^{}$]*))?\})/g,
    (_, bare: string, braced: string, sign: string, other: string) => {
      const name = bare ?? braced
      if (values.has(name) && values.get(name) === undefined) isKnown = false
      const value = values.get(name) ?? ''
      if (sign === '-') return value === '' ? other : value
      if (sign === '+') return value === '' ? '' : other
      return value
    },
  )
  // What is left of a dollar was none of these; a value never has one, since it was filled in itself.
  return isKnown && filled.length <= maxValue && !filled.includes('$') ? filled : undefined
}

function readFrom(
  { rest, flags, line }: Instruction,
  values: Values,
  names: readonly (string | null)[],
): { readonly base: Source; readonly name: string | null } {
  if (flags.length > 0) throw problemAt('environments.flag', line, flags[0])
  const [, reference = '', name = null] = /^(\S+)(?:\s+[Aa][Ss]\s+([A-Za-z][\w.-]*))?$/.exec(rest) ?? []
  const image = /["'\\`]/.test(reference) ? undefined : expand(reference, values)
  if (image === undefined) throw problemAt('environments.unclearImage', line, rest)
  const lower = name?.toLowerCase() ?? null
  if (lower !== null && names.includes(lower)) throw problemAt('environments.stageTwice', line, lower)
  const stage = names.indexOf(image.toLowerCase())
  if (stage !== -1) return { base: { stage }, name: lower }
  if (image === 'scratch') return { base: 'scratch', name: lower }
  if (!isImageReference(image)) throw problemAt('environments.unclearImage', line, rest)
  return { base: { image }, name: lower }
}

/** @param names of the stages so far, the present one included */
function copySource({ flags, line }: Instruction, names: readonly (string | null)[]): Source | undefined {
  const [flag, ...more] = flags.filter(isFrom)
  if (flag === undefined) return undefined
  const from = flag.slice(fromFlag.length)
  const before = names.slice(0, -1)
  const isNumber = /^\d+$/.test(from)
  const stage = isNumber ? Number(from) : before.indexOf(from.toLowerCase())
  const isStage = stage >= 0 && stage < before.length
  const isImage = !isNumber && from !== 'scratch' && isImageReference(from)
  if (more.length > 0 || !(isStage || isImage)) throw problemAt('environments.unclearImage', line, flag)
  return isStage ? { stage } : { image: from }
}

const fromFlag = '--from='
const isFrom = (flag: string) => flag.startsWith(fromFlag)

/** Flags that an instruction may have; others may have none. */
const allowedFlags: Partial<Record<Instruction['keyword'], RegExp>> = {
  COPY: /^--(from|chown|chmod)=|^--link$/,
  ADD: /^--(chown|chmod)=|^--link$/,
  HEALTHCHECK: /^--(interval|timeout|start-period|start-interval|retries)=/,
}

/** @param isTrigger whether it is executed in a build from this image (`ONBUILD`) @throws {DockerfileProblem} */
function checkInstruction(instruction: Instruction, isTrigger: boolean): void {
  const { keyword, flags, rest, line } = instruction
  const wrong = flags.find((flag) => !allowedFlags[keyword]?.test(flag))
  if (wrong !== undefined) throw problemAt('environments.flag', line, `${keyword} ${wrong}`)
  if (isTrigger && (keyword === 'ONBUILD' || keyword === 'FROM' || flags.some(isFrom)))
    throw problemAt('environments.trigger', line, `${keyword} ${rest}`)
  if (keyword === 'ADD' && sourcesOfAdd(rest).some(isNoFile)) throw problemAt('environments.addUrl', line, rest)
  if (keyword === 'LABEL' && hasOwnLabel(rest)) throw problemAt('environments.ownLabel', line, rest)
  if (keyword === 'ONBUILD') checkInstruction(parseInstruction(rest, line), true)
}

/** The last one is where it goes. */
function sourcesOfAdd(rest: string): readonly string[] {
  const words = rest.split(/\s+/)
  if (!rest.startsWith('[')) return words.slice(0, -1)
  try {
    const read: unknown = JSON.parse(rest)
    if (Array.isArray(read) && read.every((each) => typeof each === 'string')) return read.slice(0, -1)
  } catch {
    // Said below.
  }
  // Engines differ in what they take for a list, such as one with text behind it: all of it may be a source.
  return words
}

/** A URL, or what may become one when variables, quotes and escapes are gone. */
const isNoFile = (source: string) => /:|[$"'\\`]|^git@/.test(source)

/**
 * Labels by which the engine's objects are Berth's, and keys that may become one. The engine takes quotes and escapes out
 * of keys, and fills in variables; a key begins at the beginning of a word, and none of Berth's has a space.
 */
function hasOwnLabel(rest: string): boolean {
  const bare = rest.replace(/["'\\`]/g, '')
  // A space within braces would make several words of one variable.
  if (/(^|\s)berth\./i.test(bare) || /\$\{[^}\s$]*[\s$]/.test(bare)) return true
  // A key ends at the first `=` of its word, or, in the old form, which has one key, at a space.
  return bare
    .split(/\s+/)
    .some((word, at) => (at === 0 || word.includes('=')) && (word.split('=')[0] ?? '').includes('$'))
}

/** Says from which files a demo image was made, and marks nothing as Berth's: people build on these images, too. */
const contentLabel = 'berth.content'

/**
 * What an image brings into a build: instructions that run first, and labels.
 * @param name as it is written @throws {DockerfileProblem} for what a Dockerfile may not have either
 */
export function checkBase(name: string, { onBuild, labels }: BaseImage, own: Readonly<Record<string, string>>): void {
  const isForeign = (label: string) => label.toLowerCase().startsWith('berth.') && !(label in own)
  const foreign = Object.keys(labels).find((label) => isForeign(label) && label !== contentLabel)
  if (foreign !== undefined)
    throw new DockerfileProblem(message('environments.baseLabel', { image: name, what: foreign }))
  for (const each of onBuild) {
    try {
      const [trigger, ...more] = parseDockerfile(each).instructions
      if (!trigger || more.length > 0) throw new DockerfileProblem(message('environments.noFrom'))
      checkInstruction(trigger, true)
    } catch (error) {
      if (!(error instanceof DockerfileProblem)) throw error
      throw new DockerfileProblem(message('environments.baseTrigger', { image: name, what: each.slice(0, 200) }))
    }
  }
}

/**
 * The Dockerfile for the engine, written anew: images by the ids that were checked, stages by names of ours, no comment
 * and no continuation, so that no engine reads anything else than what was checked.
 * @param bases every image of the plan, by its name @param labels that each stage gets
 * @throws {DockerfileProblem} when the account of the base cannot be written down
 */
export function renderDockerfile(
  { escape, args, stages, keepsUser }: BuildPlan,
  bases: ReadonlyMap<string, BaseImage>,
  labels: Readonly<Record<string, string>>,
): string {
  const nameOf = (source: Source): string => {
    if (source === 'scratch') return source
    if ('stage' in source) return stageName(source.stage)
    const base = bases.get(source.image)
    if (!base) throw new Error(`the image ${source.image} was not looked for`)
    return base.id
  }
  const labelLine = `LABEL ${Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ')}`
  const lines = [`# escape=${escape}`, ...args.map((each) => lineOf(each))]
  for (const [number, { base, steps }] of stages.entries()) {
    lines.push(`FROM ${nameOf(base)} AS ${stageName(number)}`, labelLine)
    for (const { instruction, from } of steps) lines.push(lineOf(instruction, from && nameOf(from)))
  }
  const last = stages.at(-1)?.base
  const user = keepsUser && typeof last === 'object' && 'image' in last ? (bases.get(last.image)?.user ?? '') : ''
  if (!/^[\w.:-]*$/.test(user))
    throw new DockerfileProblem(message('environments.baseUser', { what: user.slice(0, 100) }))
  if (user !== '') lines.push(`USER ${user}`)
  return `${lines.join('\n')}\n`
}

const stageName = (number: number) => `berth-stage-${number}`

/** `--link` only makes newer engines quicker. */
function lineOf({ keyword, flags, rest }: Instruction, from?: string): string {
  const kept = flags.filter((flag) => flag !== '--link' && !isFrom(flag))
  return [keyword, ...(from === undefined ? [] : [`--from=${from}`]), ...kept, rest].join(' ').trimEnd()
}
