import { hasPlaceholder, placeholderProblem } from './personal-paths.ts'
import path from 'node:path'
import { typeIcons, type TypeIcon } from '@berth/api/type-icons.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { isFurtherPort } from '@berth/gateway/basics/container-port.ts'
import { localize } from '@berth/texts/localize.ts'
import {
  usualGpuResource,
  type ClusterFields,
  type DeviceMapping,
  type Mount,
  type Toleration,
} from '#/engines/container-spec.ts'
import { readImageFile, type ImageFile } from '#/machine/image-file.ts'
import { isTimeZone } from '#/machine/time-zone.ts'
import { problemOf, type Parameter, type ParameterValue, type Parameters } from './parameters.ts'
import { catalogueFiles } from './catalogue-folder.ts'

/** The value of a field, or the problem in words that follow the field's name. */
export type Read<T> = { readonly value: T } | { readonly problem: string }
export type Reader<T> = (value: unknown) => Read<T>

/** A kind of the values of template fields. */
export interface Kind<T> {
  /** What may be written, with unit and limits. Markdown. */
  readonly values: string
  readonly read: Reader<T>
}

const kind = <T>(values: string, read: Reader<T>): Kind<T> => ({ values, read })

const ok = <T>(value: T): Read<T> => ({ value })
const bad = (problem: string) => ({ problem })

export const text = kind('text, not empty', (value) =>
  typeof value === 'string' && value !== '' ? ok(value) : bad('must be text'),
)
export const environmentName = kind('lower-case letters, digits and single hyphens, at most `40`', (value) =>
  typeof value === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(value) && value.length <= 40
    ? ok(value)
    : bad('must be the name of an environment: at most 40 lower-case letters, digits and single hyphens'),
)
export const anyText = kind('text', (value) => (typeof value === 'string' ? ok(value) : bad('must be text')))
export const flag = kind('`true` or `false`', (value) =>
  typeof value === 'boolean' ? ok(value) : bad('must be true or false'),
)
export const textList = kind<readonly string[]>('list of texts', (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')
    ? ok(value)
    : bad('must be a list of strings'),
)
export const oneOf = <T extends string>(...words: T[]): Kind<T> =>
  kind(words.map((word) => `\`${word}\``).join(', '), (value) =>
    words.includes(value as T) ? ok(value as T) : bad(`must be one of ${words.join(', ')}`),
  )
/** @param unit after the limits; without one they are counted */
export const whole = (min: number, max: number, unit = ''): Kind<number> =>
  kind(`\`${min}\` to \`${max}\` ${unit}`.trim(), (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? ok(Number(value))
      : bad(`must be a whole number from ${min} to ${max}`),
  )
/** Further ports of containers. Those below 1024 have no addresses. */
export const furtherPorts = kind<'any' | 'none' | readonly number[]>(
  `\`any\`, \`none\`, or a list of at most \`100\` ports from \`1024\` to \`65535\``,
  (value) => {
    if (value === 'any' || value === 'none') return ok(value)
    const isList = Array.isArray(value) && value.length <= 100 && value.every((each) => isFurtherPort(Number(each)))
    return isList && value.every((each) => typeof each === 'number')
      ? ok([...new Set(value as number[])])
      : bad('must be any, none, or a list of at most 100 ports from 1024 to 65535')
  },
)

/** Max bytes of an image of a type: a dashboard shows all of them. */
const maxIconBytes = 65_536

/** A sign of the pages, or an image of this machine, which is read and checked at once. */
export const icon = kind<TypeIcon | ImageFile>(
  `${typeIcons.map((name) => `\`${name}\``).join(', ')}, or an absolute path`,
  (value) => {
    const name = typeIcons.find((each) => each === value)
    if (name !== undefined) return ok(name)
    return typeof value === 'string' && value.startsWith('/')
      ? readImageFile(value, { name: 'type', maxBytes: maxIconBytes })
      : bad(`must be one of ${typeIcons.join(', ')}, or the absolute path of an image`)
  },
)

export const orNull = <T>({ values, read }: Kind<T>): Kind<T | null> & { readonly default: null } => ({
  ...kind(`${values}; \`null\``, (value) => (value === null ? ok(null) : read(value))),
  default: null,
})

/** Applications whose own answers say whether they are used. */
export const idleProbeNames = ['jupyter', 'code-server'] as const

/**
 * Whom Berth asks whether a container is used: an application that it knows, or a path below the container's address, and a
 * JSON pointer (RFC 6901) in its answer to the time of the last use, or to a number of what is going on.
 */
export type IdleProbe = (typeof idleProbeNames)[number] | { readonly path: string; readonly active: string }

/** Where starter files come from: a folder or an archive of this machine, a Git repository, or this release. */
export type FilesOrigin =
  | { readonly path: string }
  /** Of the catalogue: a folder of `templates/files`. */
  | { readonly catalogue: string }
  | { readonly archive: string }
  /** `ref`: a branch, a tag or a commit; null: the branch that the repository names as its own. */
  | {
      readonly git: string
      readonly ref: string | null
      /** Of a link, or of a manager: it is fetched without this machine's accounts at Git servers, and nothing of it stays. */
      readonly isAnonymous?: true
    }

/** Files that are put into a home before the container is started. */
export interface StarterFiles {
  readonly from: FilesOrigin
  /** Folder in the home, without a slash at its ends; empty: the home itself. */
  readonly to: string
  /** `never`: put there once · `missing`: also what is missing later · `changed`: also what is another by now. */
  readonly update: 'never' | 'missing' | 'changed'
  /** Whether what programs of the home execute unasked is left out (`isExecutedUnasked`); left out itself: no. */
  readonly isWithoutExecuted?: true
}

/** A folder of the host with the homes of all people, such as of a file server. */
export interface HomeFolder {
  /** With placeholders. */
  readonly path: string
  /** Owner of a folder that is made where there is none; null: a missing one is refused. */
  readonly create: { readonly uid: number; readonly gid: number } | null
}

/** A claim of a cluster with the homes of all people, each in a folder of its own. */
export interface HomeClaim {
  readonly claim: string
  /** Relative to the claim, with placeholders. */
  readonly subPath: string
}

export type HomeSource = HomeFolder | HomeClaim

/** Ends of the names of archives that can be read. */
const archiveNames = /\.(tar|tar\.gz|tgz|zip)$/i

/** A time of day at which containers are stopped. */
export interface StopTime {
  /** Minutes since midnight. */
  readonly minutes: number
  /** Name of a time zone of IANA; null: the installation's. */
  readonly zone: string | null
}

const [minCores, maxCores] = [0.01, 1024]

export const cores = kind(`\`${minCores}\` to \`${maxCores}\` cores`, (value) => {
  const isCores = typeof value === 'number' && value >= minCores && value <= maxCores
  return isCores ? ok(value) : bad('must be a number of cores, e.g. 0.5')
})

export const absolutePath = kind('absolute path', (value) =>
  typeof value === 'string' && /^\/[^\0:]+$/.test(value) ? ok(value) : bad('must be an absolute path or null'),
)

/** A device of the host, e.g. `/dev/fuse`, and the name and rights that it has in the container, as `docker run --device` takes them. */
const device = /^(\/dev\/[\w./-]+)(?::(\/dev\/[\w./-]+))?(?::(r?w?m?))?$/

export const deviceList = kind<readonly DeviceMapping[]>('list of texts', (value) => {
  const read = textList.read(value)
  if (!('value' in read)) return read
  const found = read.value.map((each) => (/\/\.{1,2}(\/|$)/.test(each) ? null : device.exec(each)))
  const wrong = found.findIndex((match) => match === null || match[3] === '')
  if (wrong !== -1)
    return bad(`has "${read.value[wrong]}", which is no device; they look like /dev/fuse or /dev/sda:/dev/xvda:rw`)
  return ok(
    found.flatMap((match) => {
      if (!match) return []
      const [, onHost = '', inContainer = onHost, rights = 'rwm'] = match
      return { onHost, inContainer, rights }
    }),
  )
})

/** `22:00`, or with a time zone `22:00 Europe/Berlin`. */
export const timeOfDay = kind<StopTime>('time of day such as `22:00`, with a time zone or without', (value) => {
  const [, hours, minutes, zone = null] =
    typeof value === 'string' ? (/^(\d\d?):(\d\d)(?: +(\S+))?$/.exec(value) ?? []) : []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59)
    return bad('must be a time of day such as 22:00, with a time zone 22:00 Europe/Berlin')
  if (zone !== null && !isTimeZone(zone))
    return bad(`has the unknown time zone "${zone}"; they look like Europe/Berlin`)
  return ok({ minutes: Number(hours) * 60 + Number(minutes), zone })
})

/** A map of variable to `{file: path}`. */
export const secretFiles = kind<Readonly<Record<string, string>>>(
  'map of variable to `{file: path below SECRETS_DIR}`',
  (value) => {
    const form = 'must be a map of variable to {file: path below SECRETS_DIR}'
    if (!isRecord(value)) return bad(form)
    const entries = Object.entries(value).map(([name, source]) => [name, fileIn(source)] as const)
    const wrong = entries.find(([name, file]) => file === undefined || !/^[A-Za-z_]\w*$/.test(name))
    return wrong ? bad(`${form}; "${wrong[0]}" is not one`) : ok(Object.fromEntries(entries) as Record<string, string>)
  },
)

function fileIn(source: unknown): string | undefined {
  const isOne = isRecord(source) && Object.keys(source).length === 1 && typeof source.file === 'string'
  return isOne && source.file !== '' && !String(source.file).includes('\0') ? String(source.file) : undefined
}

/** `{username, password_file}`. */
export const account = kind<{ readonly username: string; readonly passwordFile: string }>(
  '`{username, password_file: path below SECRETS_DIR}`',
  (value) => {
    const form = bad('must be {username, password_file: path below SECRETS_DIR}')
    if (!isRecord(value)) return form
    const { username, password_file: file, ...others } = value
    const isOne = (each: unknown): each is string => typeof each === 'string' && /^[^\0\r\n]+$/.test(each)
    return isOne(username) && isOne(file) && Object.keys(others).length === 0
      ? ok({ username, passwordFile: file })
      : form
  },
)

/** Path and query below an address that ends with a slash; what a browser would take for another address is none. */
export const pathAndQuery = kind<string>('path and query, in ASCII', (value) => {
  const isPath =
    typeof value === 'string' &&
    /^[\x21-\x7e]*$/.test(value) &&
    !/^\/\/|\\|^\/?[a-z][a-z\d+.-]*:|(^|\/)\.\.?(\/|$|[?#])/i.test(value.replace(/[?#].*$/s, ''))
  return isPath
    ? ok(value.replace(/^\//, ''))
    : bad("must be a path and query below the container's address, e.g. vnc.html?autoconnect=1")
})

const probeForm = 'must be jupyter, code-server or {path, active}'
/** RFC 6901, 3. */
const jsonPointer = /^(?:\/(?:[^~/]|~[01])*)*$/

/** The field `idle_probe`. */
export const idleProbe = kind<IdleProbe>('`jupyter`, `code-server`; `{path, active}`', (value) => {
  const name = idleProbeNames.find((each) => each === value)
  if (name) return ok(name)
  if (!isRecord(value)) return bad(probeForm)
  const { path: given, active, ...others } = value
  const read = pathAndQuery.read(given)
  if ('problem' in read || Object.keys(others).length > 0)
    return bad(`${probeForm}; path is a path and query below the container's address`)
  if (typeof active !== 'string' || active.length > 500 || !jsonPointer.test(active))
    return bad(`${probeForm}; active is a JSON pointer, e.g. /last_activity`)
  return ok({ path: read.value, active })
})

/** Each request is compared with all of them. */
const maxIgnoredPaths = 50

/** The field `idle_ignore`. */
export const ignoredPaths = kind<readonly string[]>(`list of at most \`${maxIgnoredPaths}\` paths`, (value) => {
  const isPath = (each: unknown) =>
    typeof each === 'string' && /^[\x21-\x7e]{1,500}$/.test(each) && !/[?#]|\*./.test(each)
  if (!Array.isArray(value) || !value.every(isPath))
    return bad('must be a list of paths without a query, such as /api/metrics or /live/*; a * stands at the end only')
  if (value.length > maxIgnoredPaths) return bad(`has ${value.length} paths; ${maxIgnoredPaths} are allowed`)
  return ok(value.map((each) => (String(each).startsWith('/') ? String(each) : `/${String(each)}`)))
})

/** RFC 9110, 5.1: a name is a token; case does not matter, so it is kept in one. */
export const headerNames = kind<readonly string[]>('list of header names', (value) => {
  const isName = (each: unknown) => typeof each === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(each)
  if (!Array.isArray(value) || !value.every(isName)) return bad('must be a list of header names')
  const names = value.map((each) => String(each).toLowerCase())
  const confined = names.find((name) => alwaysConfined.has(name))
  return confined === undefined
    ? ok(names)
    : bad(`cannot free ${confined}: it is always kept under the app's own prefix`)
})

export const capabilities = kind<readonly string[]>('list of texts', (value) => {
  const read = textList.read(value)
  const problem = 'value' in read ? read.value.map(capabilityProblem).find(Boolean) : undefined
  return problem === undefined ? read : bad(problem)
})

/** With these an app could sign users in to another account, or put a service worker in front of all users' pages. */
const alwaysConfined = new Set(['set-cookie', 'service-worker-allowed'])

export const variables = kind<Readonly<Record<string, string>>>('map of variable to text', (value) => {
  if (!isRecord(value)) return bad('must be a map of strings')
  const wrong = Object.entries(value).find(([name, each]) => typeof each !== 'string' || !/^[A-Za-z_]\w*$/.test(name))
  return wrong ? bad(`must be a map of strings; "${wrong[0]}" is not one`) : ok(value as Record<string, string>)
})

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

const sizeForm = 'bytes, or text such as `512m` and `2g`'

export const size = kind(`${sizeForm}; at least \`1\``, readSize)

export const memory = kind<number>(`${sizeForm}; at least \`6m\``, (value) => {
  const read = readSize(value)
  return 'value' in read && read.value >= minMemory
    ? read
    : bad('must be a number of bytes or text such as 512m or 2g, at least 6m')
})

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What Linux knows (capabilities(7), 6.x), without the prefix. `ALL` is none of them: it would undo that all are dropped. */
const linuxCapabilities = new Set(
  `AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER
  FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE
  NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE
  SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`.split(/\s+/),
)

/** Why a template cannot have this capability, in words that follow the field's name; undefined when it can. */
function capabilityProblem(name: string): string | undefined {
  if (/^(CAP_)?ALL$/i.test(name)) return 'cannot be ALL: name those that the app needs'
  const isKnown = linuxCapabilities.has(name.toUpperCase().replace(/^CAP_/, ''))
  return isKnown ? undefined : `has "${name}", which is no capability of Linux; they look like SYS_PTRACE`
}

const parameterTypes = ['choice', 'number', 'boolean', 'text'] as const
const parameterKeys = ['label', 'type', 'choices', 'default', 'min', 'max', 'env']
/** Variables that Berth sets in every container. */
const ownVariable = /^(BASE_PATH|PORT|BERTH_.*)$/
/** Characters of a text without `max`. */
export const maxText = 1_000

/** The field `parameters`: a map of name to `{label, type, choices, default, min, max, env}`. */
export const parameterMap = kind<Parameters>(
  'map of name, a letter and at most `62` letters, digits, `_` and `-`, to parameter',
  (value) => {
    if (!isRecord(value)) return bad('must be a map of name to {label, type, choices, default, min, max, env}')
    const parameters: Record<string, Parameter> = {}
    for (const [name, fields] of Object.entries(value)) {
      if (!/^[A-Za-z][\w-]{0,62}$/.test(name))
        return bad(`has the name "${name.slice(0, 70)}"; names are a letter and at most 62 letters, digits, _ and -`)
      const read = parameterOf(name, fields)
      if ('problem' in read) return bad(`for ${name}: ${read.problem}`)
      const { env } = read.value
      if (Object.values(parameters).some((other) => other.env === env))
        return bad(`for ${name}: env ${env} is used twice`)
      parameters[name] = read.value
    }
    return ok(parameters)
  },
)

function parameterOf(name: string, fields: unknown): Read<Parameter> {
  if (!isRecord(fields)) return bad('must be a map with label, type, choices, default, min, max, env')
  const unknown = Object.keys(fields).find((key) => !parameterKeys.includes(key))
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: ${parameterKeys.join(', ')}`)
  const { label = name, env } = fields
  const type = parameterTypes.find((each) => each === fields.type)
  if (type === undefined) return bad(`type must be one of ${parameterTypes.join(', ')}`)
  if (typeof label !== 'string' || label.trim() === '') return bad('label must be text')
  if (typeof env !== 'string' || !/^[A-Za-z_]\w*$/.test(env))
    return bad('env must be the name of a variable, e.g. SIZE')
  if (ownVariable.test(env)) return bad(`env ${env} is a variable that Berth sets itself`)
  const choices = choicesOf(type, fields.choices)
  if ('problem' in choices) return choices
  const limits = limitsOf(type, fields)
  if ('problem' in limits) return limits
  return withDefault(name, { label, type, env, choices: choices.value, ...limits.value }, fields.default)
}

function choicesOf(type: Parameter['type'], value: unknown): Read<readonly string[]> {
  if (type !== 'choice') return value === undefined ? ok([]) : bad('choices are for the type choice alone')
  const isList = Array.isArray(value) && value.length > 0 && value.every(isText)
  if (!isList) return bad('choices must be a list of at least one text; put numbers in quotes')
  return new Set(value).size === value.length ? ok(value) : bad('choices has one entry twice')
}

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0')

function limitsOf(
  type: Parameter['type'],
  { min, max }: Record<string, unknown>,
): Read<Pick<Parameter, 'min' | 'max'>> {
  const hasLimits = type === 'number' || type === 'text'
  for (const [key, limit] of Object.entries({ min, max })) {
    if (limit === undefined) continue
    if (!hasLimits) return bad(`${key} is for the types number and text alone`)
    if (typeof limit !== 'number' || !Number.isFinite(limit)) return bad(`${key} must be a number`)
    if (type === 'text' && (!Number.isInteger(limit) || limit < 0)) return bad(`${key} must be a number of characters`)
  }
  const limits = { min: (min as number) ?? null, max: (max as number) ?? (type === 'text' ? maxText : null) }
  return limits.min !== null && limits.max !== null && limits.min > limits.max
    ? bad(`min must not be greater than max, ${limits.max}`)
    : ok(limits)
}

function withDefault(name: string, fields: Omit<Parameter, 'default'>, value: unknown): Read<Parameter> {
  if (value === undefined && fields.type === 'text' && (fields.min ?? 0) > 0)
    return bad('needs a default: a text with min is never empty')
  const parameter = { ...fields, default: (value ?? defaultOf(fields)) as ParameterValue }
  const problem = value === null ? undefined : problemOf(name, parameter, parameter.default)
  if (value === null || problem)
    return bad(`default is not allowed${problem ? `: ${localize(defaultLanguage, problem)}` : ': it must not be null'}`)
  return ok(parameter)
}

/** Where the template has none: the first choice, the number nearest to 0, `false`, or an empty text. */
function defaultOf({ type, choices, min, max }: Omit<Parameter, 'default'>): ParameterValue | undefined {
  if (type === 'choice') return choices[0]
  if (type === 'number') return Math.min(Math.max(0, min ?? 0), max ?? Infinity)
  return type === 'boolean' ? false : ''
}

const filesForm = 'must be a list of {from: {path | archive | git, ref}, to, update}'
const fileUpdates = ['never', 'missing', 'changed'] as const

/** The field `files`. */
export const starterFileList = kind<readonly StarterFiles[]>('list of `{from, to, update}`', (value) => {
  if (!Array.isArray(value)) return bad(filesForm)
  const all: StarterFiles[] = []
  for (const each of value as unknown[]) {
    const read = starterFiles(each)
    if ('problem' in read) return read
    all.push(read.value)
  }
  return ok(all)
})

function starterFiles(value: unknown): Read<StarterFiles> {
  if (!isRecord(value)) return bad(filesForm)
  const { from, to = '', update = 'missing', ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: from, to, update`)
  const folder = typeof to === 'string' ? folderInHome(to) : undefined
  if (folder === undefined)
    return bad('needs a "to" that is a path relative to the home, e.g. course; it must not lead out of the home')
  const known = fileUpdates.find((each) => each === update)
  if (known === undefined) return bad('needs an "update" of never, missing or changed')
  const read = originOf(from)
  return 'problem' in read ? read : ok({ from: read.value, to: folder, update: known })
}

/** `.`, `./course/` and `course//week1` are common ways to write it. */
function folderInHome(to: string): string | undefined {
  if (to.startsWith('/') || to.includes('\0') || to.split('/').includes('..')) return undefined
  const parts = to.split('/').filter((part) => part !== '' && part !== '.')
  return parts.every((part) => Buffer.byteLength(part) <= 255) ? parts.join('/') : undefined
}

function originOf(value: unknown): Read<FilesOrigin> {
  const problem = bad('needs a "from" of {path: folder}, {archive: file}, {git: URL, ref} or {catalogue: name}')
  if (!isRecord(value)) return problem
  const { path: folder, archive, git, catalogue, ref = null, ...others } = value
  if (Object.keys(others).length > 0) return problem
  const given = [folder, archive, git, catalogue].filter((each) => each !== undefined)
  if (given.length !== 1 || typeof given[0] !== 'string' || given[0].includes('\0')) return problem
  if (git !== undefined) return repository(given[0], ref)
  if (ref !== null) return bad('has a "ref", which only git has')
  if (given[0] === '') return problem
  if (catalogue !== undefined)
    return catalogueFiles(given[0])
      ? ok({ catalogue: given[0] })
      : bad(`has the catalogue's files ${given[0]}, which this release does not have`)
  if (folder !== undefined) return ok({ path: given[0] })
  return archiveNames.test(given[0])
    ? ok({ archive: given[0] })
    : bad(`has the archive ${given[0]}; names of archives end with .tar, .tar.gz or .zip`)
}

/** What Git takes for a name of a branch, tag or commit (git-check-ref-format), and no option of a command. */
const refName = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock$|[./]$))[^\s~^:?*[\\\p{Cc}]{1,255}$/u

function repository(git: string, ref: unknown): Read<FilesOrigin> {
  const url = URL.parse(git)
  if (!url || !['http:', 'https:', 'file:'].includes(url.protocol) || /[\s\p{Cc}]/u.test(git))
    return bad('needs a "git" that is a URL with http, https or file')
  // Templates are shown, copied and kept in repositories.
  if (url.username !== '' || url.password !== '')
    return bad('has a "git" with a user or a password in its URL; use a credential helper of Git')
  if (ref !== null && (typeof ref !== 'string' || !refName.test(ref)))
    return bad('needs a "ref" that is the name of a branch, a tag or a commit')
  return ok({ git, ref: ref as string | null })
}

/** Folders of a container that its engine makes itself. */
const engineFolders = /^\/(proc|sys|dev)(\/|$)/
/** What the engine takes for the name of a volume. */
const volumeName = /^[a-zA-Z0-9][\w.-]{1,254}$/

/** The field `mounts`: a list of `{source: {volume: name} | {path: ...}, target, read_only}`. */
export const mountList = kind<readonly Mount[]>('list of `{source, target, read_only}`', (value) => {
  if (!Array.isArray(value)) return bad('must be a list of {source, target, read_only}')
  const mounts: Mount[] = []
  for (const each of value as unknown[]) {
    const read = mount(each)
    if ('problem' in read) return read
    if (mounts.some(({ target }) => target === read.value.target))
      return bad(`has the target ${read.value.target} twice`)
    mounts.push(read.value)
  }
  return ok(mounts)
})

function mount(value: unknown): Read<Mount> {
  if (!isRecord(value)) return bad('must be a list of {source, target, read_only}')
  const { source, target, read_only: readOnly = true, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: source, target, read_only`)
  if (typeof target !== 'string' || !isTarget(target))
    return bad('needs a target: an absolute path of a folder in the container, but none of /, /proc, /sys and /dev')
  if (typeof readOnly !== 'boolean') return bad(`for ${target}: read_only must be true or false`)
  const read = sourceOf(source)
  return 'problem' in read ? bad(`for ${target}: ${read.problem}`) : ok({ source: read.value, target, readOnly })
}

const isTarget = (target: string) =>
  path.posix.isAbsolute(target) &&
  path.posix.normalize(target) === target &&
  /^\/[^\0:]*[^\0:/]$/.test(target) &&
  !engineFolders.test(target)

function sourceOf(source: unknown): Read<Mount['source']> {
  const form = 'source must be {volume: name} or {path: /folder/of/the/host}'
  if (!isRecord(source) || Object.keys(source).length !== 1) return bad(form)
  const { volume, path: folder } = source
  if (typeof volume === 'string' && volumeName.test(volume)) return ok({ volume })
  return typeof folder === 'string' && path.posix.isAbsolute(folder) && !folder.includes('\0')
    ? personal({ path: folder }, folder)
    : bad(form)
}

function personal<T>(value: T, folder: string): Read<T> {
  const problem = placeholderProblem(folder)
  return problem === undefined ? ok(value) : bad(`path ${folder} ${problem}`)
}

const maxId = 2 ** 32 - 2
const isId = (text: string) => /^\d{1,10}$/.test(text) && Number(text) <= maxId

/** `uid` or `uid:gid`. */
export const accountIds = kind('`uid` or `uid:gid`', (value) => {
  const text = typeof value === 'number' ? String(value) : value
  const isRight = typeof text === 'string' && text.split(':').length <= 2 && text.split(':').every(isId)
  return isRight ? ok(text) : bad('must be a uid, or uid:gid in quotes, such as "1000:1000"')
})

/** The field `home_source`: `{path, create}`, or `{claim, sub_path}` of a cluster. */
export const homeSource = kind<HomeSource>('`{path, create}` or `{claim, sub_path}`', (value) => {
  if (!isRecord(value))
    return bad('must be {path: /folder/{slug}, create: "uid:gid"} or {claim: name, sub_path: "{slug}"}')
  if ('claim' in value) return homeClaim(value)
  const { path: folder, create = null, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: path, create`)
  if (typeof folder !== 'string' || !path.posix.isAbsolute(folder) || folder.includes('\0'))
    return bad('needs a path: an absolute path of a folder of the host')
  if (!hasPlaceholder(folder)) return bad(`path ${folder} needs {slug} or {user_id}: a home is of one person`)
  if (create === null) return personal({ path: folder, create: null }, folder)
  const read = accountIds.read(create)
  if ('problem' in read) return bad(`create ${read.problem}`)
  const [uid = 0, gid = uid] = read.value.split(':').map(Number)
  return personal({ path: folder, create: { uid, gid } }, folder)
})

function homeClaim({ claim, sub_path: subPath, ...others }: Readonly<Record<string, unknown>>): Read<HomeSource> {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return bad(`has the key "${unknown}" beside claim; known there: claim, sub_path`)
  if (!isObjectName(claim)) return bad('needs a claim that is the name of a PersistentVolumeClaim')
  if (typeof subPath !== 'string' || !isRelativeFolder(subPath))
    return bad('needs a sub_path: a folder of the claim, relative to it and without . and .., such as "homes/{slug}"')
  if (!hasPlaceholder(subPath)) return bad(`sub_path ${subPath} needs {slug} or {user_id}: a home is of one person`)
  const problem = placeholderProblem(subPath)
  return problem === undefined ? ok({ claim, subPath }) : bad(`sub_path ${subPath} ${problem}`)
}

const isRelativeFolder = (folder: string) =>
  !folder.includes('\0') && folder.split('/').every((name) => name !== '' && name !== '.' && name !== '..')

const clusterKeys = ['node_selector', 'tolerations', 'storage_class', 'pull_secrets', 'gpu_resource']
const tolerationKeys = ['key', 'operator', 'value', 'effect', 'seconds']
/** Names and values as the API of a cluster checks them. */
const subdomain = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const objectName = new RegExp(`^(?=.{1,253}$)${subdomain}$`)
const labelKey = new RegExp(`^(?:(?=[^/]{1,253}/)${subdomain}/)?(?=.{1,63}$)[A-Za-z0-9]([-\\w.]*[A-Za-z0-9])?$`)
const labelValue = /^(?=.{0,63}$)([A-Za-z0-9]([-\w.]*[A-Za-z0-9])?)?$/
const resourceName = new RegExp(`^(?=[^/]{1,253}/)${subdomain}/(?=.{1,63}$)[A-Za-z0-9]([-\\w.]*[A-Za-z0-9])?$`)
const tolerationOperators = ['Equal', 'Exists'] as const
const taintEffects = ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

/** The field `kubernetes`: a map with node_selector, tolerations, storage_class, pull_secrets, gpu_resource. */
export const clusterFields = kind<ClusterFields>('map', (value) => {
  if (!isRecord(value)) return bad(`must be a map with ${clusterKeys.join(', ')}`)
  const unknown = Object.keys(value).find((key) => !clusterKeys.includes(key))
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: ${clusterKeys.join(', ')}`)
  const {
    node_selector: nodeSelector = {},
    tolerations = [],
    storage_class: storageClass = null,
    pull_secrets: pullSecrets = [],
    gpu_resource: gpuResource = usualGpuResource,
  } = value
  if (!isSelector(nodeSelector)) return bad('needs a node_selector that is a map of label to value, in quotes')
  if (storageClass !== null && !isObjectName(storageClass))
    return bad('needs a storage_class that is the name of a storage class')
  if (!Array.isArray(pullSecrets) || !pullSecrets.every(isObjectName))
    return bad('needs pull_secrets that are a list of names of Secrets')
  if (typeof gpuResource !== 'string' || !resourceName.test(gpuResource))
    return bad('needs a gpu_resource such as nvidia.com/gpu')
  const read = tolerationList(tolerations)
  if ('problem' in read) return read
  return ok({ nodeSelector, tolerations: read.value, storageClass, pullSecrets, gpuResource })
})

const isObjectName = (value: unknown): value is string => typeof value === 'string' && objectName.test(value)
const isLabelKey = (value: unknown): value is string => typeof value === 'string' && labelKey.test(value)
const isLabelValue = (value: unknown): value is string => typeof value === 'string' && labelValue.test(value)

const isSelector = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.entries(value).every(([key, each]) => isLabelKey(key) && isLabelValue(each))

function tolerationList(value: unknown): Read<readonly Toleration[]> {
  const form = 'needs tolerations that are a list of {key, operator, value, effect, seconds}'
  if (!Array.isArray(value)) return bad(form)
  const all: Toleration[] = []
  for (const each of value as unknown[]) {
    if (!isRecord(each) || Object.keys(each).some((key) => !tolerationKeys.includes(key))) return bad(form)
    const read = toleration(each)
    if ('problem' in read) return read
    all.push(read.value)
  }
  return ok(all)
}

/** As the API of a cluster checks it: without a key every taint is accepted, which only `Exists` can say. */
function toleration({ key = '', value = '', seconds = null, ...given }: Record<string, unknown>): Read<Toleration> {
  const operator = tolerationOperators.find((each) => each === (given.operator ?? 'Equal'))
  const effect = taintEffects.find((each) => each === (given.effect ?? ''))
  if (!operator) return bad(`has a toleration whose operator is none of ${tolerationOperators.join(', ')}`)
  if (effect === undefined) return bad(`has a toleration whose effect is none of ${taintEffects.slice(1).join(', ')}`)
  if (key !== '' && !isLabelKey(key)) return bad('has a toleration whose key is no name of a taint')
  if (!isLabelValue(value)) return bad('has a toleration whose value is no value of a taint')
  if (key === '' && operator === 'Equal') return bad('has a toleration without key, which needs the operator Exists')
  if (value !== '' && operator === 'Exists') return bad('has a toleration with a value, which Exists does not compare')
  const isTime = Number.isInteger(seconds) && Number(seconds) >= 0
  if (seconds !== null && !(isTime && effect === 'NoExecute'))
    return bad('has a toleration with seconds, which must be a whole number and need the effect NoExecute')
  return ok({ key: String(key), operator, value, effect, seconds: seconds as number | null })
}
