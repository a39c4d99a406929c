import { isMap, isScalar, parseDocument } from 'yaml'
import { capabilityProblem } from './capabilities.ts'
import type { TemplateField } from './template-descriptions.ts'
import type { Template } from './template.ts'

/** Bytes, cores and processes a container gets when its template does not say. */
export const defaultLimits = { memory: 2 * 1024 ** 3, cpus: 2, pids: 512 } as const
const defaultHome = '/home/berth'

type Read<T> = { readonly value: T } | { readonly problem: string }
type Reader<T> = (value: unknown) => Read<T>

const ok = <T>(value: T): Read<T> => ({ value })
const bad = (problem: string) => ({ problem })

/**
 * Reads a map of type to template from JSON or YAML text, keeping the order of its keys.
 * JSON is read by the YAML parser too: `JSON.parse` would put keys such as "10" before all others.
 * @param source how the operator knows the text, for the messages: the name of a variable or a file
 * @returns the templates, or every problem found, each a sentence
 */
export function readTemplates(text: string, source: string): { templates: Template[]; problems: string[] } {
  const document = parseDocument(text, { uniqueKeys: true, stringKeys: false })
  const syntax = document.errors.map((error) => `${source}: ${error.message.split('\n')[0]}`)
  if (syntax.length > 0) return { templates: [], problems: syntax }
  if (!isMap(document.contents) || document.contents.items.length === 0) {
    return {
      templates: [],
      problems: [`${source}: must be a map of container type to template, with at least one entry`],
    }
  }
  const problems: string[] = []
  const templates: Template[] = []
  for (const { key, value } of document.contents.items) {
    const type = String(isScalar(key) ? key.value : key)
    const fields: unknown = (value as { toJS(d: unknown): unknown } | null)?.toJS(document)
    const read = readTemplate(type, fields)
    problems.push(...read.problems.map((problem) => `${source}: ${problem}`))
    if (read.template) templates.push(read.template)
  }
  return { templates, problems }
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
    home: pick('home', readers.home, defaultHome),
    homeSize: pick('home_size', readers.home_size, null),
    idlePause: pick('idle_pause', readers.idle_pause, 0),
    idleTimeout: pick('idle_timeout', readers.idle_timeout, 0),
    idleCpu: pick('idle_cpu', readers.idle_cpu, null),
    stripPrefix: pick('strip_prefix', readers.strip_prefix, true),
    rewriteLocation: pick('rewrite_location', readers.rewrite_location, true),
    allowHeaders: pick('allow_headers', readers.allow_headers, []),
    access: pick('access', readers.access, 'owner'),
    sandboxVisitors: pick('sandbox_visitors', readers.sandbox_visitors, true),
    forwardToken: pick('forward_token', readers.forward_token, 'scoped'),
    runtime: pick('runtime', readers.runtime, null),
    readOnly: pick('read_only', readers.read_only, false),
    capAdd: pick('cap_add', readers.cap_add, []),
    allowSetuid: pick('allow_setuid', readers.allow_setuid, false),
  }
  problems.push(...contradictionsIn(template))
  return problems.length === 0 ? { template, problems } : { problems }
}

/** What no field is wrong about by itself. */
function contradictionsIn({ type, idlePause, idleTimeout, idleCpu, access, forwardToken }: Template): string[] {
  const problems: string[] = []
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

const text: Reader<string> = (value) => (typeof value === 'string' && value !== '' ? ok(value) : bad('must be text'))
const anyText: Reader<string> = (value) => (typeof value === 'string' ? ok(value) : bad('must be text'))
const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? ok(value) : bad('must be true or false'))
const textList: Reader<readonly string[]> = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? ok(value) : bad('must be a list of strings')
const oneOf =
  <T extends string>(...words: T[]): Reader<T> =>
  (value) =>
    words.includes(value as T) ? ok(value as T) : bad(`must be one of ${words.join(', ')}`)
const whole =
  (min: number, max: number): Reader<number> =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? ok(Number(value))
      : bad(`must be a whole number from ${min} to ${max}`)
const orNull =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value) =>
    value === null ? ok(null) : reader(value)

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
  home: orNull((value: unknown) =>
    typeof value === 'string' && /^\/[^\0:]+$/.test(value) ? ok(value) : bad('must be an absolute path or null'),
  ),
  home_size: orNull(readSize),
  idle_pause: whole(0, 31_536_000),
  idle_timeout: whole(0, 31_536_000),
  idle_cpu: orNull(cores),
  strip_prefix: flag,
  rewrite_location: flag,
  allow_headers: headerNames,
  access: oneOf('owner', 'authenticated', 'public'),
  sandbox_visitors: flag,
  forward_token: oneOf('scoped', 'full'),
  runtime: orNull(text),
  read_only: flag,
  cap_add: capabilities,
  allow_setuid: flag,
} satisfies Record<TemplateField, Reader<unknown>>

function cores(value: unknown): Read<number> {
  const isCores = typeof value === 'number' && value >= 0.01 && value <= 1024
  return isCores ? ok(value) : bad('must be a number of cores, e.g. 0.5')
}

/** RFC 9110, 5.1: a name is a token; case does not matter, so it is kept in one. */
function headerNames(value: unknown): Read<readonly string[]> {
  const isName = (each: unknown) => typeof each === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(each)
  if (!Array.isArray(value) || !value.every(isName)) return bad('must be a list of header names')
  const names = value.map((each) => String(each).toLowerCase())
  const confined = names.find((name) => alwaysConfined.has(name))
  return confined === undefined
    ? ok(names)
    : bad(`cannot free ${confined}: it is always kept under the app's own prefix`)
}

function capabilities(value: unknown): Read<readonly string[]> {
  const read = textList(value)
  const problem = 'value' in read ? read.value.map(capabilityProblem).find(Boolean) : undefined
  return problem === undefined ? read : bad(problem)
}

/** With these an app could sign users in to another account, or put a service worker in front of all users' pages. */
const alwaysConfined = new Set(['set-cookie', 'service-worker-allowed'])

function readEnv(value: unknown): Read<Readonly<Record<string, string>>> {
  if (!isRecord(value)) return bad('must be a map of strings')
  const wrong = Object.entries(value).find(([name, each]) => typeof each !== 'string' || !/^[A-Za-z_]\w*$/.test(name))
  return wrong ? bad(`must be a map of strings; "${wrong[0]}" is not one`) : ok(value as Record<string, string>)
}

const units: Record<string, number> = { '': 1, b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }
/** The engine itself refuses less than 6 MiB. */
const minMemory = 6 * 1024 ** 2

/** A number of bytes, or text such as `512m` and `2g`. */
export function readSize(value: unknown): Read<number> {
  const match = typeof value === 'string' ? /^(\d{1,12}(?:\.\d{1,3})?)([bkmgt]?)b?$/i.exec(value) : null
  const bytes =
    typeof value === 'number' ? value : match ? Number(match[1]) * (units[(match[2] ?? '').toLowerCase()] ?? 1) : NaN
  if (!(bytes >= 1) || !Number.isSafeInteger(Math.floor(bytes)))
    return bad('must be a number of bytes or text such as 512m or 2g')
  return ok(Math.floor(bytes))
}

function readMemory(value: unknown): Read<number> {
  const read = readSize(value)
  return 'value' in read && read.value >= minMemory
    ? read
    : bad('must be a number of bytes or text such as 512m or 2g, at least 6m')
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
