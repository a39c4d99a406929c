import type { DeviceMapping } from '#/engines/container-spec.ts'
import { isTimeZone } from '#/machine/time-zone.ts'
import type { StopTime } from './lifetime-limits.ts'
import { capabilityProblem } from './linux-capabilities.ts'

/** Readers of the values of template fields: each returns the value, or the problem in words that follow the field's name. */

export type Read<T> = { readonly value: T } | { readonly problem: string }
export type Reader<T> = (value: unknown) => Read<T>

export const ok = <T>(value: T): Read<T> => ({ value })
export const bad = (problem: string) => ({ problem })

export const text: Reader<string> = (value) =>
  typeof value === 'string' && value !== '' ? ok(value) : bad('must be text')
export const anyText: Reader<string> = (value) => (typeof value === 'string' ? ok(value) : bad('must be text'))
export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? ok(value) : bad('must be true or false'))
export const textList: Reader<readonly string[]> = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? ok(value) : bad('must be a list of strings')
export const oneOf =
  <T extends string>(...words: T[]): Reader<T> =>
  (value) =>
    words.includes(value as T) ? ok(value as T) : bad(`must be one of ${words.join(', ')}`)
export const whole =
  (min: number, max: number): Reader<number> =>
  (value) =>
    Number.isInteger(value) && Number(value) >= min && Number(value) <= max
      ? ok(Number(value))
      : bad(`must be a whole number from ${min} to ${max}`)
export const orNull =
  <T>(reader: Reader<T>): Reader<T | null> =>
  (value) =>
    value === null ? ok(null) : reader(value)

export function cores(value: unknown): Read<number> {
  const isCores = typeof value === 'number' && value >= 0.01 && value <= 1024
  return isCores ? ok(value) : bad('must be a number of cores, e.g. 0.5')
}

/** A device of the host, e.g. `/dev/fuse`, and the name and rights that it has in the container, as `docker run --device` takes them. */
const device = /^(\/dev\/[\w./-]+)(?::(\/dev\/[\w./-]+))?(?::(r?w?m?))?$/

export function deviceList(value: unknown): Read<readonly DeviceMapping[]> {
  const read = textList(value)
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
}

/** `22:00`, or with a time zone `22:00 Europe/Berlin`. */
export function timeOfDay(value: unknown): Read<StopTime> {
  const [, hours, minutes, zone = null] =
    typeof value === 'string' ? (/^(\d\d?):(\d\d)(?: +(\S+))?$/.exec(value) ?? []) : []
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59)
    return bad('must be a time of day such as 22:00, with a time zone 22:00 Europe/Berlin')
  if (zone !== null && !isTimeZone(zone))
    return bad(`has the unknown time zone "${zone}"; they look like Europe/Berlin`)
  return ok({ minutes: Number(hours) * 60 + Number(minutes), zone })
}

/** A map of variable to `{file: path}`. */
export function secretFiles(value: unknown): Read<Readonly<Record<string, string>>> {
  const form = 'must be a map of variable to {file: path below SECRETS_DIR}'
  if (!isRecord(value)) return bad(form)
  const entries = Object.entries(value).map(([name, source]) => [name, fileIn(source)] as const)
  const wrong = entries.find(([name, file]) => file === undefined || !/^[A-Za-z_]\w*$/.test(name))
  return wrong ? bad(`${form}; "${wrong[0]}" is not one`) : ok(Object.fromEntries(entries) as Record<string, string>)
}

function fileIn(source: unknown): string | undefined {
  const isOne = isRecord(source) && Object.keys(source).length === 1 && typeof source.file === 'string'
  return isOne && source.file !== '' && !String(source.file).includes('\0') ? String(source.file) : undefined
}

/** `{username, password_file}`. */
export function registryAccount(value: unknown): Read<{ readonly username: string; readonly passwordFile: string }> {
  const form = bad('must be {username, password_file: path below SECRETS_DIR}')
  if (!isRecord(value)) return form
  const { username, password_file: file, ...others } = value
  const isOne = (each: unknown): each is string => typeof each === 'string' && /^[^\0\r\n]+$/.test(each)
  return isOne(username) && isOne(file) && Object.keys(others).length === 0
    ? ok({ username, passwordFile: file })
    : form
}

/** Path and query below an address that ends with a slash; what a browser would take for another address is none. */
export function relativePath(value: unknown): Read<string> {
  const isPath =
    typeof value === 'string' &&
    /^[\x21-\x7e]*$/.test(value) &&
    !/^\/\/|\\|^\/?[a-z][a-z\d+.-]*:|(^|\/)\.\.?(\/|$|[?#])/i.test(value.replace(/[?#].*$/s, ''))
  return isPath
    ? ok(value.replace(/^\//, ''))
    : bad("must be a path and query below the container's address, e.g. vnc.html?autoconnect=1")
}

/** RFC 9110, 5.1: a name is a token; case does not matter, so it is kept in one. */
export function headerNames(value: unknown): Read<readonly string[]> {
  const isName = (each: unknown) => typeof each === 'string' && /^[\w!#$%&'*+.^`|~-]+$/.test(each)
  if (!Array.isArray(value) || !value.every(isName)) return bad('must be a list of header names')
  const names = value.map((each) => String(each).toLowerCase())
  const confined = names.find((name) => alwaysConfined.has(name))
  return confined === undefined
    ? ok(names)
    : bad(`cannot free ${confined}: it is always kept under the app's own prefix`)
}

export function capabilities(value: unknown): Read<readonly string[]> {
  const read = textList(value)
  const problem = 'value' in read ? read.value.map(capabilityProblem).find(Boolean) : undefined
  return problem === undefined ? read : bad(problem)
}

/** With these an app could sign users in to another account, or put a service worker in front of all users' pages. */
const alwaysConfined = new Set(['set-cookie', 'service-worker-allowed'])

export function readEnv(value: unknown): Read<Readonly<Record<string, string>>> {
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

export function readMemory(value: unknown): Read<number> {
  const read = readSize(value)
  return 'value' in read && read.value >= minMemory
    ? read
    : bad('must be a number of bytes or text such as 512m or 2g, at least 6m')
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
