import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments, stringify } from 'yaml'
import type { Manifest } from './manifests.ts'

const folder = path.resolve(import.meta.dirname, '../../../../deploy/helm')
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')

/** An object of the chart, with what tests read of some kinds. */
export interface ChartObject extends Manifest {
  /** Of a ConfigMap. */
  readonly data?: Readonly<Record<string, string>>
  readonly spec?: { readonly template?: { readonly spec?: object } }
}

type Fields = Readonly<Record<string, unknown>>

/** Chart.yaml. */
export const chart = parse(read('Chart.yaml')) as Readonly<Record<'name' | 'version' | 'appVersion', string>>
/** values.yaml. */
export const defaults = parse(read('values.yaml')) as Fields
/** values.schema.json. */
export const valuesSchema = JSON.parse(read('values.schema.json')) as object

/**
 * Objects of the chart, as `helm template --namespace ...` would print them: of the part of Helm's language that its templates keep to.
 * @param values in addition to values.yaml, whose objects they are merged into
 * @throws for whatever else a template has
 */
export function renderChart(values: Fields = {}, namespace = 'berth'): ChartObject[] {
  const data = {
    Values: merged(defaults, values),
    Release: { Namespace: namespace },
    Chart: { Name: chart.name, AppVersion: chart.appVersion },
  }
  return globSync('templates/*.yaml', { cwd: folder })
    .toSorted()
    .flatMap((file) => parseAllDocuments(renderTemplate(read(file), data)))
    .map((document) => {
      if (document.errors.length > 0) throw document.errors[0]
      return document.toJS() as ChartObject | null
    })
    .filter((object) => object !== null)
}

/** Objects are merged, all else is replaced. */
function merged(base: unknown, change: unknown): unknown {
  if (!isFields(base) || !isFields(change)) return change
  const own = Object.entries(change).map(([name, value]) => [name, merged(base[name], value)])
  return { ...base, ...(Object.fromEntries(own) as Fields) }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A piece of text, or what stands in `{{ }}`. */
type Part = { readonly text: string } | { readonly action: string }

/**
 * Text of a template of Go with `if`, `not`, `else`, `range $name, $value :=`, `end`, and pipelines of values and the functions below.
 * @param data what the first dot is; dots name fields of it everywhere, as no `with` is known
 * @throws for other words, and for a value that is not there
 */
export function renderTemplate(template: string, data: object): string {
  const parts = partsOf(template)
  const [text, end] = renderBlock(parts, 0, { '': data })
  if (end < parts.length) throw new Error('an end or else without a beginning')
  return text
}

/** `{{-` takes the white space before it, `-}}` that after it. */
function partsOf(template: string): Part[] {
  const pieces = template.split(/(\s*\{\{-\s(?:(?!\}\}).)*\}\}|\{\{(?!-\s)(?:(?!\}\}).)*\}\})/)
  return pieces.map((piece, index) => {
    if (index % 2 === 0) return { text: pieces[index - 1]?.endsWith('-}}') ? piece.trimStart() : piece }
    return {
      action: piece
        .trim()
        .replace(/^\{\{(-\s)?|(\s-)?\}\}$/g, '')
        .trim(),
    }
  })
}

/** Variables by name; the dot has the empty one. */
type Scope = Readonly<Record<string, unknown>>

/** @returns the text of parts up to an `else` or `end` that belongs to what began before them, and its index */
function renderBlock(parts: readonly Part[], from: number, scope: Scope): [string, number] {
  let text = ''
  for (let index = from; ; index++) {
    const part = parts[index]
    if (part === undefined) return [text, index]
    if ('text' in part) text += part.text
    else if (part.action === 'else' || part.action === 'end') return [text, index]
    else if (/^(if|range) /.test(part.action)) {
      const [inner, end] = renderBranches(parts, index, part.action, scope)
      text += inner
      index = end
    } else text += printed(valueOf(part.action, scope))
  }
}

/** @returns the text of an `if` or `range` that begins at an index, and the index of its `end` */
function renderBranches(parts: readonly Part[], begin: number, action: string, scope: Scope): [string, number] {
  const range = /^range \$(\w+), \$(\w+) := (.+)$/.exec(action)
  const scopes = range
    ? // Go goes through a map in the order of its keys.
      Object.entries(valueOf(range[3] ?? '', scope) as Fields)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([name, value]) => ({ ...scope, [range[1] ?? '']: name, [range[2] ?? '']: value }))
    : isTrue(conditionOf(action, scope))
      ? [scope]
      : []
  const [, middle] = renderBlock(
    parts,
    begin + 1,
    range ? { ...scope, [range[1] ?? '']: '', [range[2] ?? '']: '' } : scope,
  )
  const first = scopes.map((each) => renderBlock(parts, begin + 1, each)[0]).join('')
  if (actionAt(parts, middle) === 'end') return [first, middle]
  const [second, end] = renderBlock(parts, middle + 1, scope)
  if (actionAt(parts, end) !== 'end') throw new Error(`no end of ${action}`)
  return [scopes.length > 0 ? first : second, end]
}

function actionAt(parts: readonly Part[], index: number) {
  const part = parts[index]
  return part && 'action' in part ? part.action : undefined
}

function conditionOf(action: string, scope: Scope): unknown {
  const [, not, operand = ''] = /^if (not )?(\S+)$/.exec(action) ?? []
  const value = valueOf(operand, scope)
  return not ? !isTrue(value) : value
}

/** As Go has it: empty texts, lists and maps are false, too. */
const isTrue = (value: unknown) =>
  Boolean(typeof value === 'object' && value !== null ? Object.keys(value).length : value)

/** Of Sprig and Helm; the value of a pipeline is their last argument. */
const functions: Readonly<Record<string, (argument: unknown, value: unknown) => unknown>> = {
  default: (argument, value) => (isTrue(value) ? value : argument),
  nindent: (argument, value) => `\n${printed(value).replace(/^/gm, ' '.repeat(Number(argument)))}`,
  quote: (_none, value) => JSON.stringify(printed(value)),
  sha256sum: (_none, value) => createHash('sha256').update(printed(value)).digest('hex'),
  // Key order and `<` differ from Go's; what is made of it is only hashed.
  toJson: (_none, value) => JSON.stringify(value),
  toYaml: (_none, value) => stringify(value).trimEnd(),
  trunc: (argument, value) => printed(value).slice(0, Number(argument)),
}

function valueOf(pipeline: string, scope: Scope): unknown {
  const [first = '', ...steps] = pipeline.split(' | ')
  return steps.reduce(
    (value, step) => {
      const [, name = '', argument] = /^(\w+)(?: (\S+))?$/.exec(step) ?? []
      const apply = functions[name]
      if (apply === undefined) throw new Error(`the function of ${step} is none of the chart's`)
      return apply(argument === undefined ? undefined : operandOf(argument, scope), value)
    },
    operandOf(first, scope),
  )
}

function operandOf(word: string, scope: Scope): unknown {
  if (/^\d+$/.test(word)) return Number(word)
  const [, variable, fields] = /^(?:\$(\w+)|((?:\.\w+)+))$/.exec(word) ?? []
  if (variable !== undefined && variable in scope) return scope[variable]
  if (fields === undefined) throw new Error(`${word} is no value`)
  return fields
    .split('.')
    .slice(1)
    .reduce((value: unknown, name) => {
      if (!isFields(value) || !(name in value)) throw new Error(`${word} is not there`)
      return value[name]
    }, scope[''])
}

function printed(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Error(`${JSON.stringify(value)} has no text of its own`)
}
