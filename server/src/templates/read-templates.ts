import path from 'node:path'
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Document, type Pair } from 'yaml'
import { extendedFields } from './catalogue.ts'
import {
  anyText,
  bad,
  capabilities,
  clusterFields,
  cores,
  deviceList,
  flag,
  headerNames,
  isRecord,
  mountList,
  ok,
  oneOf,
  orNull,
  parameterMap,
  readEnv,
  readMemory,
  readSize,
  registryAccount,
  relativePath,
  secretFiles,
  starterFileList,
  text,
  textList,
  timeOfDay,
  whole,
  type Reader,
} from './field-values.ts'
import type { TemplateField } from './template-descriptions.ts'
import type { Template } from './template.ts'

/** Bytes, cores, processes and bytes of shared memory a container gets when its template does not say. */
export const defaultLimits = { memory: 2 * 1024 ** 3, cpus: 2, pids: 512, shmSize: 64 * 1024 ** 2 } as const
const defaultHome = '/home/berth'

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
  const reader: Reader<unknown> | undefined = readers[String(key) as keyof typeof readers]
  const isWrong = (entries: unknown) => reader !== undefined && 'problem' in reader(entries)
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
    .filter((name) => !Object.hasOwn(readers, name))
    .map((name) => `${type}: unknown field "${name}"; known: ${Object.keys(readers).join(', ')}`)
  const pick = <T>(name: keyof typeof readers, reader: Reader<T>, fallback?: T): T => {
    if (fields[name] === undefined && fallback !== undefined) return fallback
    const read = reader(fields[name])
    if ('value' in read) return read.value
    problems.push(`${type}: ${name} ${read.problem}`)
    return fallback as T
  }
  const template: Template = {
    type,
    displayName: pick('display_name', readers.display_name, type),
    description: pick('description', readers.description, ''),
    image: pick('image', readers.image),
    port: pick('port', readers.port, null),
    env: pick('env', readers.env, {}),
    command: pick('command', readers.command, null),
    memory: pick('memory', readers.memory, defaultLimits.memory),
    cpus: pick('cpus', readers.cpus, defaultLimits.cpus),
    pids: pick('pids', readers.pids, defaultLimits.pids),
    shmSize: pick('shm_size', readers.shm_size, defaultLimits.shmSize),
    gpus: pick('gpus', readers.gpus, 0),
    devices: pick('devices', readers.devices, []),
    openPath: pick('open_path', readers.open_path, ''),
    readyPath: pick('ready_path', readers.ready_path, null),
    home: pick('home', readers.home, defaultHome),
    homeSize: pick('home_size', readers.home_size, null),
    registryAuth: pick('registry_auth', readers.registry_auth, null),
    secrets: pick('secrets', readers.secrets, {}),
    mounts: pick('mounts', readers.mounts, []),
    files: pick('files', readers.files, []),
    parameters: pick('parameters', readers.parameters, {}),
    idlePause: pick('idle_pause', readers.idle_pause, 0),
    idleTimeout: pick('idle_timeout', readers.idle_timeout, 0),
    idleCpu: pick('idle_cpu', readers.idle_cpu, null),
    prestart: pick('prestart', readers.prestart, false),
    prestartAt: pick('prestart_at', readers.prestart_at, null),
    maxLifetime: pick('max_lifetime', readers.max_lifetime, 0),
    stopAt: pick('stop_at', readers.stop_at, null),
    stripPrefix: pick('strip_prefix', readers.strip_prefix, true),
    rewriteLocation: pick('rewrite_location', readers.rewrite_location, true),
    allowHeaders: pick('allow_headers', readers.allow_headers, []),
    access: pick('access', readers.access, 'owner'),
    groups: pick('groups', readers.groups, []),
    sandboxVisitors: pick('sandbox_visitors', readers.sandbox_visitors, true),
    forwardToken: pick('forward_token', readers.forward_token, 'scoped'),
    kubernetes: pick('kubernetes', readers.kubernetes, null),
    runtime: pick('runtime', readers.runtime, null),
    readOnly: pick('read_only', readers.read_only, false),
    capAdd: pick('cap_add', readers.cap_add, []),
    allowSetuid: pick('allow_setuid', readers.allow_setuid, false),
  }
  problems.push(...contradictionsIn(template))
  return problems.length === 0 ? { template, problems } : { problems }
}

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

function problemsOfFiles({ type, files, home, mounts }: Template): string[] {
  if (files.length > 0 && home === null) return [`${type}: files needs a home that they are put into`]
  return files.flatMap(({ to }) => {
    const target = path.posix.join(home ?? '/', to)
    const mount = mounts.find((each) => target === each.target || target.startsWith(`${each.target}/`))
    return mount
      ? [`${type}: files are put into the home; ${target} is in ${mount.target}, which mounts puts there`]
      : []
  })
}

/** One reader per field of a template; the keys are the fields an operator may write. */
const readers = {
  display_name: anyText,
  description: anyText,
  image: text,
  port: orNull(whole(1, 65_535)),
  env: readEnv,
  command: orNull(textList),
  memory: readMemory,
  cpus: cores,
  pids: whole(1, 4_194_304),
  shm_size: readSize,
  gpus: whole(0, 1_024),
  devices: deviceList,
  open_path: relativePath,
  ready_path: orNull(relativePath),
  home: orNull((value: unknown) =>
    typeof value === 'string' && /^\/[^\0:]+$/.test(value) ? ok(value) : bad('must be an absolute path or null'),
  ),
  home_size: orNull(readSize),
  registry_auth: orNull(registryAccount),
  secrets: secretFiles,
  mounts: mountList,
  files: starterFileList,
  parameters: parameterMap,
  idle_pause: whole(0, 31_536_000),
  idle_timeout: whole(0, 31_536_000),
  idle_cpu: orNull(cores),
  prestart: flag,
  prestart_at: orNull(timeOfDay),
  max_lifetime: whole(0, 31_536_000),
  stop_at: orNull(timeOfDay),
  strip_prefix: flag,
  rewrite_location: flag,
  allow_headers: headerNames,
  groups: textList,
  access: oneOf('owner', 'authenticated', 'public'),
  sandbox_visitors: flag,
  forward_token: oneOf('scoped', 'full'),
  kubernetes: orNull(clusterFields),
  runtime: orNull(text),
  read_only: flag,
  cap_add: capabilities,
  allow_setuid: flag,
  extends: orNull(text),
} satisfies Record<TemplateField, Reader<unknown>>
