import path from 'node:path'
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Document, type Pair } from 'yaml'
import { extendedFields } from './catalogue.ts'
import { isRecord } from './field-values.ts'
import { defaultOf, fields as rows, readField, type FieldName, type ValueOf } from './fields.ts'
import { requiredFiles, type Template } from './template.ts'

/** Templates that were read, and every problem found, each a sentence. */
export interface ReadTemplates {
  readonly templates: Template[]
  readonly problems: string[]
  /**
   * The problem of a template with the line and column that it is about.
   * @param problem begins with type and field, as those of `readTemplate` do; else it is about the whole template
   */
  readonly locate: (type: string, problem: string) => string
}

/** What is wrong with a template of this type. */
export interface TemplateProblem {
  readonly type: string
  readonly problem: string
}

/** `locate` of templates that are in no text of the operator's. */
export const unlocated: ReadTemplates['locate'] = (_, problem) => problem

/**
 * Reads a map of type to template from JSON or YAML text, keeping the order of its keys.
 * JSON is read by the YAML parser too: `JSON.parse` would put keys such as "10" before all others.
 * @param source how the operator knows the text, for the messages: the name of a variable or a file
 */
export function readTemplates(text: string, source: string): ReadTemplates {
  const lines = new LineCounter()
  const document = parseDocument(text, { uniqueKeys: true, stringKeys: false, lineCounter: lines })
  const syntax = document.errors.map((error) => `${source}: ${error.message.split('\n')[0]}`)
  if (syntax.length > 0) return { templates: [], problems: syntax, locate: unlocated }
  if (!isMap(document.contents) || document.contents.items.length === 0) {
    return {
      templates: [],
      problems: [`${source}: must be a map of container type to template, with at least one entry`],
      locate: unlocated,
    }
  }
  const problems: string[] = []
  const templates: Template[] = []
  const nodes = new Map<string, Pair>()
  const locate = (type: string, problem: string) => {
    const { line, col } = lines.linePos(startOf(document, nodes.get(type), fieldIn(type, problem)))
    return `${source}: line ${line}, column ${col}: ${problem}`
  }
  for (const node of document.contents.items) {
    const { key, value } = node
    const type = String(isScalar(key) ? key.value : key)
    nodes.set(type, node)
    const fields: unknown = (value as { toJS(d: unknown): unknown } | null)?.toJS(document)
    const extended = extendedFields(fields)
    const read =
      'problem' in extended
        ? { problems: [`${type}: extends: ${extended.problem}`] }
        : readTemplate(type, extended.fields)
    problems.push(...read.problems.map((problem) => locate(type, problem)))
    if ('template' in read && read.template) templates.push(read.template)
  }
  return { templates, problems, locate }
}

/** The field that a problem is about; undefined for one of the template itself. */
function fieldIn(type: string, problem: string): string | undefined {
  if (!problem.startsWith(`${type}: `)) return undefined
  const words = problem.slice(type.length + 2)
  return /^(?:unknown field "([^"]*)"|([a-z_]+)[: ])/.exec(words)?.slice(1).find(Boolean)
}

/** Where a field of a template, or its wrong entry, begins in the text; without such a field where the template does. */
function startOf(document: Document, template: Pair | undefined, field: string | undefined): number {
  const nodes: readonly Pair[] = isMap(template?.value) ? template.value.items : []
  const found = nodes.find((pair) => isScalar(pair.key) && pair.key.value === field)
  const at = (found && wrongEntry(document, found)) ?? found?.key ?? template?.key
  return (at as { readonly range?: readonly [number] } | null)?.range?.[0] ?? 0
}

/** Fields that are maps whose keys an operator chooses. */
const mapsOfNames = new Set(['env', 'secrets', 'parameters'])

/** The first entry of a list or map that is wrong by itself; undefined where none is, as of two that contradict each other. */
function wrongEntry(document: Document, { key, value }: Pair): unknown {
  const row = rows.get(String(key))
  const isWrong = (entries: unknown) => row !== undefined && 'problem' in row.read(entries)
  if (isSeq(value)) return value.items.find((item) => isNode(item) && isWrong([item.toJS(document)]))
  if (!isMap(value) || !mapsOfNames.has(String(key))) return undefined
  const wrong = value.items.find(
    (pair) => isNode(pair.value) && isWrong({ [String(pair.key)]: pair.value.toJS(document) as unknown }),
  )
  return wrong?.key
}

/** One template from its configured fields; every problem names type and field. */
export function readTemplate(type: string, fields: unknown): { template?: Template; problems: string[] } {
  if (type === '' || type.length > 100)
    return { problems: [`the type "${type.slice(0, 20)}" must have 1 to 100 characters`] }
  if (!isRecord(fields)) return { problems: [`${type}: must be a map of template fields`] }
  const problems = Object.keys(fields)
    .filter((name) => !rows.has(name))
    .map((name) => `${type}: unknown field "${name}"; known: ${[...rows.keys()].join(', ')}`)
  const pick = <Name extends FieldName>(name: Name): ValueOf<Name> => {
    const read = readField(name, fields[name])
    if ('value' in read) return read.value
    problems.push(`${type}: ${name} ${read.problem}`)
    // A placeholder keeps the rest readable while the problems are collected; the template is not returned.
    return rows.get(name)?.default === undefined ? (undefined as ValueOf<Name>) : defaultOf(name)
  }
  const environment = pick('environment')
  if (environment !== null && fields.image !== undefined)
    problems.push(`${type}: environment and image both say what it runs: leave one of them out`)
  const known: Readonly<Record<string, unknown>> = {
    environment,
    ...(environment !== null && { image: '' }),
    ...(fields.display_name === undefined && { display_name: type }),
  }
  const names = ([...rows.keys()] as FieldName[]).filter((name) => name !== 'extends')
  const read = names.map((name) => [camelCase(name), Object.hasOwn(known, name) ? known[name] : pick(name)])
  const all = { type, ...Object.fromEntries(read) } as Template
  const hasFiles = all.home !== null && all.homeSource === null
  const template: Template = { ...all, files: hasFiles ? all.files : requiredFiles(all.files) }
  problems.push(...contradictionsIn(template))
  return problems.length === 0 ? { template, problems } : { problems }
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** What no field is wrong about by itself. */
function contradictionsIn(template: Template): string[] {
  const { type, idlePause, idleTimeout, idleCpu, access, forwardToken } = template
  const problems: string[] = []
  const twice = Object.keys(template.secrets).find((name) => Object.hasOwn(template.env, name))
  if (twice !== undefined) problems.push(`${type}: secrets and env both set ${twice}`)
  for (const [name, { env }] of Object.entries(template.parameters))
    if (Object.hasOwn(template.env, env) || Object.hasOwn(template.secrets, env))
      problems.push(`${type}: parameters ${name} sets ${env}, which env or secrets set, too`)
  if (template.mounts.some(({ target }) => target === template.home))
    problems.push(`${type}: mounts has the home ${template.home} as a target: set home to null, or mount it elsewhere`)
  problems.push(...problemsOfFiles(template))
  problems.push(...problemsOfGroupFolders(template))
  if (template.homeSource !== null) {
    if (template.home === null) problems.push(`${type}: home_source needs a home at which it is mounted`)
    if (template.homeSize !== null)
      problems.push(`${type}: home_size does not bind a home_source: set the limit on the file server, as a quota`)
    if (template.files.length > 0)
      problems.push(`${type}: files are put into homes of the engine alone: put them into home_source yourself`)
  }
  if (template.layerSize !== null && template.readOnly)
    problems.push(`${type}: layer_size means nothing with read_only: nothing is written outside of the home and mounts`)
  if (template.homeOf === 'user' && template.home === null)
    problems.push(`${type}: home_of: user needs a home that is shared`)
  if (forwardToken === 'full' && access !== 'owner')
    problems.push(
      `${type}: forward_token: full needs access: owner; with access: ${access} the owner of a container would get every visitor's own token, and with an administrator's all of Berth`,
    )
  if (idlePause > 0 && idleTimeout > 0 && idlePause >= idleTimeout)
    problems.push(`${type}: idle_pause must be smaller than idle_timeout: what is stopped cannot be paused any more`)
  if (typeof idleCpu === 'number' && idlePause === 0 && idleTimeout === 0)
    problems.push(`${type}: idle_cpu means nothing without idle_pause or idle_timeout`)
  return problems
}

/** Each folder is a mount below the path: another mount there, or a path in another mount, would hide one of them. */
function problemsOfGroupFolders({ type, groupFolders, home, mounts }: Template): string[] {
  if (groupFolders === null) return []
  const isIn = (one: string, other: string) => one === other || one.startsWith(`${other}/`)
  const mount = mounts.find(({ target }) => isIn(target, groupFolders) || isIn(groupFolders, target))
  if (mount) return [`${type}: group_folders is ${groupFolders}, and mounts has ${mount.target}: keep them apart`]
  if (home !== null && isIn(home, groupFolders))
    return [`${type}: group_folders is ${groupFolders}, in which the home ${home} is: name a folder of its own`]
  return []
}

function problemsOfFiles({ type, files, home, mounts }: Template): string[] {
  if (files.length > 0 && home === null) return [`${type}: files needs a home that they are put into`]
  return requiredFiles(files).flatMap(({ to }) => {
    const target = path.posix.join(home ?? '/', to)
    const mount = mounts.find((each) => target === each.target || target.startsWith(`${each.target}/`))
    return mount
      ? [`${type}: files are put into the home; ${target} is in ${mount.target}, which mounts puts there`]
      : []
  })
}
