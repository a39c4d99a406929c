import { realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { isAddress, isEmailDomain, type EmailDomains } from '#/accounts/sign-up/email-address.ts'
import { readSize } from '#/templates/field-values.ts'
import { parseEngineAddress } from '#/engines/docker/engine-address.ts'
import { isTimeZone } from '#/machine/time-zone.ts'

/** Address of a listener. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** The address in the words of the setting. */
  readonly text: string
}

/** A problem of a value, in words that end the sentence "NAME: ...". */
export class Problem {
  readonly words: string
  constructor(words: string) {
    this.words = words
  }
}

/** Reads one of these words, as it is written. */
export const oneOf =
  <Word extends string>(...words: Word[]) =>
  (value: string) =>
    words.find((word) => word === value) ?? new Problem(`must be ${words.join(' or ')}`)

export const whole = (min: number, max: number) => (value: string) =>
  /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
    ? Number(value)
    : new Problem(`must be a whole number from ${min} to ${max}`)

export const wholeOrZero = (min: number, max: number) => (value: string) => {
  const read = value === '0' ? 0 : whole(min, max)(value)
  return typeof read === 'number' ? read : new Problem(`must be 0 or a whole number from ${min} to ${max}`)
}

export const size = (value: string) => {
  const read = readSize(value)
  return 'value' in read ? read.value : new Problem(read.problem)
}

const url =
  (...schemes: string[]) =>
  (value: string) =>
    URL.canParse(value) && schemes.includes(new URL(value).protocol)
      ? value
      : new Problem(`must be an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`)

/** One server: `pg` knows no list of hosts as libpq does, and would look a list up as one name. */
export const databaseUrl = (value: string) => {
  const [, hosts = ''] = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?]*)/i.exec(value) ?? []
  return hosts.includes(',')
    ? new Problem(
        'must name one host: for a database that fails over, an address or a name that moves to the server that takes over',
      )
    : url('postgres:', 'postgresql:')(value)
}

/** Characters that a header can carry; no message contains the value itself. */
export const bearer = (value: string) =>
  /^[\x21-\x7e]{1,512}$/.test(value)
    ? value
    : new Problem('must be at most 512 visible ASCII characters without spaces')

export function listenAddress(text: string): ListenAddress | Problem {
  const [, six, other, digits] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? []
  const [host, port] = [six ?? other, Number(digits)]
  const isRight = host !== undefined && port >= 1 && port <= 65_535
  return isRight ? { host, port, text } : new Problem('must be host:port, e.g. 127.0.0.1:9100 or [::1]:9100')
}

/** Paths are added to it. */
export const webUrl = (value: string) => {
  const parsed = url('http:', 'https:')(value)
  if (parsed instanceof Problem) return parsed
  const { username, password } = new URL(parsed)
  return /[?#]/.test(parsed) || username !== '' || password !== ''
    ? new Problem('must be an address without "?", "#", user name and password, e.g. https://berth.example.org')
    : parsed.replace(/\/+$/, '')
}

/** Without a host the mail library would take this machine; it also reads `smtp:host`. */
export const mailServer = (value: string) => {
  const parsed = url('smtp:', 'smtps:')(value)
  const { hostname } = URL.parse(value.replace(/^([a-z]+:)(?!\/\/)/i, '$1//')) ?? { hostname: '' }
  return parsed instanceof Problem || hostname !== ''
    ? parsed
    : new Problem('must name a mail server, e.g. smtp://mail.example.org:587')
}

/** What the mail library sends from: an address, which need not be one that Berth mails to, with a name or without. */
export const sender = (value: string) =>
  /[^\s@<>,;]@[^\s@<>,;]/.test(value)
    ? value
    : new Problem('must be an address such as berth@example.org, or Berth <berth@example.org>')

/** A host name, or an address in brackets (RFC 5321, 4.1.3). */
export const heloName = (value: string) =>
  /^(?:[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?|\[(?:IPv6:)?[\da-f.:]{2,45}\])$/i.test(value)
    ? value
    : new Problem('must be a host name, e.g. berth.example.org, or an address in brackets, e.g. [192.0.2.1]')

export const dockerHost = (value: string) => {
  try {
    parseEngineAddress(value)
    return value
  } catch {
    return new Problem('must look like unix:///path or tcp://host:port')
  }
}

/** What a listener binds to: an address, or the name of one. */
export const bindAddress = (value: string) =>
  isIP(value) !== 0 || /^[\p{L}\p{M}\p{N}_.-]+$/u.test(value)
    ? value
    : new Problem('must be an address of this machine, e.g. 127.0.0.1 or ::1')

/** Max characters of a text that users see uncut. */
const maxContactLength = 200

export const contact = (value: string) =>
  [...value].length > maxContactLength || /\p{Cc}/u.test(value)
    ? new Problem(`must be an e-mail address, a URL or words, of at most ${maxContactLength} characters and one line`)
    : value

/** Lower case, no trailing dot, an optional port; international names in their ASCII form. */
export function domain(value: string): string | Problem {
  const wrong = new Problem('must be a host name with an optional port, e.g. berth.example.org')
  if (!URL.canParse(`http://${value}`)) return wrong
  const { hostname, port, pathname, search, hash, username } = new URL(`http://${value}`)
  if (pathname !== '/' || search || hash || username || value.includes('/')) return wrong
  const explicit = /:(\d+)$/.exec(value)?.[1]
  return hostname.replace(/\.$/, '') + (port || explicit ? `:${port || explicit}` : '')
}

export const subdomain = (value: string) =>
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(value)
    ? value.toLowerCase()
    : new Problem('must be a host name label, e.g. spawner, or empty')

export const absolutePath = (value: string) =>
  path.isAbsolute(value) && path.normalize(value) !== '/'
    ? path.normalize(value)
    : new Problem('must be an absolute path, but not /')

/** Paths with commas between them. */
export function absolutePaths(value: string): readonly string[] | Problem {
  const read = list(value).map((each) => absolutePath(each))
  const problem = read.find((each) => each instanceof Problem)
  return problem ?? read.filter((each) => typeof each === 'string')
}

export const list = (value: string) =>
  value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

/** Addresses that can sign up, in lower case. */
export function emailAddresses(value: string): ReadonlySet<string> | Problem {
  const addresses = list(value).map((each) => each.toLowerCase())
  const wrong = addresses.find((each) => !isAddress(each))
  return wrong === undefined
    ? new Set(addresses)
    : new Problem(`"${wrong}" is not an address such as ann@example.org; several are separated by commas`)
}

/** One at least: with none, every new address would be refused. */
export function emailDomains(value: string): EmailDomains | Problem {
  const domains = list(value).map((each) => each.toLowerCase())
  if (domains.length === 0) return new Problem('must name a domain such as example.org or *.example.org')
  const wrong = domains.find((each) => !isEmailDomain(each))
  return wrong === undefined ? domains : new Problem(`"${wrong}" is not a domain such as example.org or *.example.org`)
}

export function networks(value: string): readonly string[] | Problem {
  const wrong = list(value).find((each) => !isNetwork(each))
  return wrong === undefined ? list(value) : new Problem(`"${wrong}" is not an address or network such as 10.0.0.0/8`)
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const maxBits = isIP(address) === 6 ? 128 : 32
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= maxBits))
  )
}

/**
 * Name of the time zone that `TZ` names, which may be a path into the system's zone database with a colon before it,
 * such as `:/etc/localtime`. A rule such as `CET-1CEST` is none: it would be taken for UTC.
 */
export function timeZoneName(value: string): string | Problem {
  const given = value.replace(/^:/, '')
  const name = path.isAbsolute(given) ? zoneOfFile(given) : given
  return name !== undefined && isTimeZone(name)
    ? name
    : new Problem('must be the name of a time zone such as Europe/Berlin')
}

function zoneOfFile(file: string): string | undefined {
  const zone = (name: string) => /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(name)?.[1]
  try {
    return zone(file) ?? zone(realpathSync(file))
  } catch {
    return undefined
  }
}

/** The machine's time zone where `TZ` names none; UTC where that is not known. */
export function machineTimeZone(): string {
  const found = new Intl.DateTimeFormat().resolvedOptions().timeZone as string | undefined
  return found !== undefined && found !== 'Etc/Unknown' && isTimeZone(found) ? found : 'UTC'
}
