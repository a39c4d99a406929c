import { realpathSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { isLoopbackHost } from '@berth/gateway/basics/ip-address.ts'
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

/** What decides whether a setting has an effect: values of other settings. */
interface CountsWith {
  readonly settings: readonly string[]
  /** @param values of `settings`, as they are given; empty for one that is not set */
  readonly are: (...values: string[]) => boolean
  /** What is so otherwise, for the end of a sentence. */
  readonly otherwise: string
}

/** Facts of a setting that do not depend on what kind of value it has. */
interface Facts {
  /** What it sets. Markdown. */
  readonly text: string
  /** Page that explains it, from the docs folder. */
  readonly see?: `${'how-to' | 'explanation'}/${string}.md`
  /** What holds without it, where that depends on other settings or on the machine. Markdown. */
  readonly usually?: string
  /** The value is a secret, or contains one: it can be given by a file, `NAME_FILE`. */
  readonly isSecret?: true
  /**
   * A hot reload (SIGHUP) cannot change it, because the gateway process goes on: the listener is bound once, and another
   * store or engine would be another installation with the open connections of this one.
   */
  readonly reload?: false
  /** Berth opens the file or folder that it names, so that no container may replace it; `private`: nor read it. */
  readonly opens?: 'private' | 'shared'
  /**
   * Without this the setting has no effect, which is said at the start. It is left out where shells set the variable for
   * other programs, too (`KUBECONFIG`), and where the value counts anyway (`MAIL_FROM`, which the outbox uses).
   */
  readonly countsWith?: CountsWith
  /** An empty value is a value; for others it means that the setting is not set. */
  readonly isEmptyAValue?: true
}

/** One row of the table of settings. */
export interface Setting<Value = unknown> extends Facts {
  /** As it is written in the environment; null: without it there is no value. */
  readonly default: string | null
  /** What may be written, with unit and limits. Markdown. */
  readonly values: string
  /** Reads and checks a value, which is trimmed. */
  readonly read: (text: string) => Value | Problem
}

/** What a row states, beside its kind. */
interface Row<Default> extends Facts {
  /** Left out: without the setting there is no value. */
  readonly default?: Default
}

/** A row of a kind; the value is null when there is none and the row has no default. */
type Kind<Value, Written = string> = <Default extends Written | null = null>(
  row: Row<Default>,
) => Setting<Value | (Default & null)>

/** Kind of the values that a function reads. @param values what may be written, with unit and limits */
const kind =
  <Value>(values: string, read: (text: string) => Value | Problem): Kind<Value> =>
  (row) => ({ default: null, ...row, values, read })

interface Limits {
  readonly min: number
  readonly max: number
  /** Whether 0 is allowed beside what the limits allow. */
  readonly isZeroToo?: true
}

/** Kind of whole numbers. @param unit after the limits; empty: they are counted */
const wholeNumber =
  (unit: string) =>
  <Default extends number | null = null>({
    min,
    max,
    isZeroToo,
    ...row
  }: Row<Default> & Limits): Setting<number | (Default & null)> => ({
    ...row,
    default: typeof row.default === 'number' ? String(row.default) : null,
    values: `${isZeroToo ? '`0`, or ' : ''}\`${min}\` to \`${max}\`${unit === '' ? '' : ` ${unit}`}`,
    read: isZeroToo ? wholeOrZero(min, max) : whole(min, max),
  })

export const count = wholeNumber('')
export const seconds = wholeNumber('seconds')
export const days = wholeNumber('days')
export const months = wholeNumber('months')
export const port = <Default extends number | null = null>(row: Row<Default> & Pick<Limits, 'min'>) =>
  count<Default>({ ...row, max: 65_535 })

/** `0` or `1`. */
export const flag = ({ default: usual, ...row }: Facts & { readonly default: 0 | 1 }): Setting<boolean> => ({
  ...row,
  default: String(usual),
  values: '`0` or `1`',
  read: (text) => {
    const word = oneOf('0', '1')(text)
    return word instanceof Problem ? word : word === '1'
  },
})

/** One of these words, as it is written. */
export const choice = <Word extends string>(...words: Word[]): Kind<Word, Word> =>
  kind(either(words.map((word) => `\`${word}\``)), oneOf(...words)) as Kind<Word, Word>

const either = (words: readonly string[]) => `${words.slice(0, -1).join(', ')} or ${words.at(-1) ?? ''}`

const oneOf =
  <Word extends string>(...words: Word[]) =>
  (value: string) =>
    words.find((word) => word === value) ?? new Problem(`must be ${either(words)}`)

export const whole = (min: number, max: number) => (value: string) =>
  /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max
    ? Number(value)
    : new Problem(`must be a whole number from ${min} to ${max}`)

const wholeOrZero = (min: number, max: number) => (value: string) => {
  const read = value === '0' ? 0 : whole(min, max)(value)
  return typeof read === 'number' ? read : new Problem(`must be 0 or a whole number from ${min} to ${max}`)
}

export const bytes = kind('bytes, or text such as `512m` and `2g`; at least `1`', (value) => {
  const read = readSize(value)
  return 'value' in read ? read.value : new Problem(read.problem)
})

export const coreCount = kind('`0.1` to `1024` cores', (value) => {
  const cores = Number(value)
  return /^\d+(\.\d+)?$/.test(value) && cores >= 0.1 && cores <= 1_024
    ? cores
    : new Problem('must be a number of cores, at most 1024')
})

/** Lower-case names of hosts, with a port or without. */
export const hostNames = kind('names of hosts, separated by commas', (value) => {
  const names = value.split(',').map((name) => name.trim().toLowerCase())
  const wrong = names.find((name) => !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?$/.test(name))
  return wrong === undefined ? names : new Problem(`has "${wrong}", which is no name of a host`)
})

/** Names of images, or their beginnings with `*` at the end. */
export const imageNames = kind('names of images, separated by commas', (value) => {
  const names = value.split(',').map((name) => name.trim())
  const wrong = names.find((name) => !/^([A-Za-z0-9][\w./:@-]*\*?|\*)$/.test(name))
  return wrong === undefined ? names : new Problem(`has "${wrong}", which is no name of an image`)
})

/** Path of a file, which is read elsewhere. */
export const file = kind('path of a file', (value) => value)

/** Path of a folder, which may be made. */
export const folder = kind('path of a folder', (value) => path.resolve(value))

export const image = kind('name of an image', (value) => value)

/** See `templatesOfSettings`, which reads them. */
export const catalogueOrMap = kind('names of the catalogue, or JSON', (value) => value)

const url =
  (...schemes: string[]) =>
  (value: string) =>
    URL.canParse(value) && schemes.includes(new URL(value).protocol)
      ? value
      : new Problem(`must be an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`)

/** One server: `pg` knows no list of hosts as libpq does, and would look a list up as one name. */
export const databaseUrl = kind('URL with `postgres://`, of one host', (value) => {
  const [, hosts = ''] = /^postgres(?:ql)?:\/\/(?:[^/?]*@)?([^/?]*)/i.exec(value) ?? []
  return hosts.includes(',')
    ? new Problem(
        'must name one host: for a database that fails over, an address or a name that moves to the server that takes over',
      )
    : url('postgres:', 'postgresql:')(value)
})

/** Characters that a header can carry; no message contains the value itself. */
export const bearer = kind('at most `512` visible ASCII characters without spaces', (value) =>
  /^[\x21-\x7e]{1,512}$/.test(value)
    ? value
    : new Problem('must be at most 512 visible ASCII characters without spaces'),
)

/** @param examples for the problem */
const hostAndPort = (examples: string) =>
  kind('`host:port`, with a port from `1` to `65535`', (text): ListenAddress | Problem => {
    const [, six, other, digits] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? []
    const [host, port] = [six ?? other, Number(digits)]
    const isRight = host !== undefined && port >= 1 && port <= 65_535
    return isRight ? { host, port, text } : new Problem(`must be host:port, e.g. ${examples}`)
  })

export const listenAddress = hostAndPort('127.0.0.1:9100 or [::1]:9100')
export const nodeAddress = hostAndPort('10.0.0.5:7070')

/** Characters of the secret of several nodes; `readNode` checks it, with what else these need. */
export const minNodeSecretLength = 32
export const nodeSecret = kind(`at least \`${minNodeSecretLength}\` characters`, (value) => value)

/** Paths are added to it. */
export const webUrl = kind('URL with `http://` or `https://`', (value) => {
  const parsed = url('http:', 'https:')(value)
  if (parsed instanceof Problem) return parsed
  const { username, password } = new URL(parsed)
  return /[?#]/.test(parsed) || username !== '' || password !== ''
    ? new Problem('must be an address without "?", "#", user name and password, e.g. https://berth.example.org')
    : parsed.replace(/\/+$/, '')
})

/** Names and values as HTTP has them; values may be percent-encoded (OpenTelemetry, OTLP exporter configuration). */
export const headerPairs = kind('`name=value`, separated by commas', (value) => {
  const pairs = value.split(',').map((pair) => pair.split(/=(.*)/s, 2).map((part) => part.trim()))
  const headers: Record<string, string> = {}
  for (const [name = '', text = ''] of pairs) {
    const decoded = decodeOrUndefined(text)
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || decoded === undefined || !/^[\x20-\x7e]+$/.test(decoded))
      return new Problem('must be name=value, several separated by commas')
    headers[name.toLowerCase()] = decoded
  }
  return headers
})

function decodeOrUndefined(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

export const serviceName = kind('at most `100` characters', (value) =>
  value.length <= 100 ? value : new Problem('must have at most 100 characters'),
)

export const ratio = kind('`0` to `1`', (value) => {
  const part = Number(value)
  return /^\d*\.?\d+$/.test(value) && part <= 1 ? part : new Problem('must be a number from 0 to 1')
})

/** Without a host the mail library would take this machine; it also reads `smtp:host`. */
export const mailServer = kind('URL with `smtp://` or `smtps://`', (value) => {
  const parsed = url('smtp:', 'smtps:')(value)
  const { hostname } = URL.parse(value.replace(/^([a-z]+:)(?!\/\/)/i, '$1//')) ?? { hostname: '' }
  return parsed instanceof Problem || hostname !== ''
    ? parsed
    : new Problem('must name a mail server, e.g. smtp://mail.example.org:587')
})

/** What the mail library sends from: an address, which need not be one that Berth mails to, with a name or without. */
export const sender = kind('address of mail, with a name or without', (value) =>
  /[^\s@<>,;]@[^\s@<>,;]/.test(value)
    ? value
    : new Problem('must be an address such as berth@example.org, or Berth <berth@example.org>'),
)

/** A host name, or an address in brackets (RFC 5321, 4.1.3). */
export const heloName = kind('host name, or an address in brackets', (value) =>
  /^(?:[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?|\[(?:IPv6:)?[\da-f.:]{2,45}\])$/i.test(value)
    ? value
    : new Problem('must be a host name, e.g. berth.example.org, or an address in brackets, e.g. [192.0.2.1]'),
)

export const dockerHost = kind('such as `unix:///run/docker.sock` or `tcp://host:2375`', (value) => {
  try {
    parseEngineAddress(value)
    return value
  } catch {
    return new Problem('must look like unix:///path or tcp://host:port')
  }
})

/** What a listener binds to: an address, or the name of one. */
export const bindAddress = kind('address of this machine, or its name', (value) =>
  isIP(value) !== 0 || /^[\p{L}\p{M}\p{N}_.-]+$/u.test(value)
    ? value
    : new Problem('must be an address of this machine, e.g. 127.0.0.1 or ::1'),
)

/** Max characters of a text that users see uncut. */
const maxContactLength = 200

export const contact = kind(`one line of at most \`${maxContactLength}\` characters`, (value) =>
  [...value].length > maxContactLength || /\p{Cc}/u.test(value)
    ? new Problem(`must be an e-mail address, a URL or words, of at most ${maxContactLength} characters and one line`)
    : value,
)

/** Where a fault of security is reported, as a URI (RFC 9116, 2.5.3): of the web by https alone. */
export const securityContact = kind('e-mail address, or URL with `https://`', (value): string | Problem => {
  const wrong = new Problem('must be an e-mail address or an https:// URL, e.g. security@example.org')
  if (/\s/.test(value)) return wrong
  if (/^[^@:/]+@[^@:/]+$/.test(value)) return `mailto:${value}`
  return URL.parse(value)?.protocol === 'https:' ? value : wrong
})

/** Lower case, no trailing dot, an optional port; international names in their ASCII form. */
export const domain = kind('host name, with a port or without', (value): string | Problem => {
  const wrong = new Problem('must be a host name with an optional port, e.g. berth.example.org')
  if (!URL.canParse(`http://${value}`)) return wrong
  const { hostname, port, pathname, search, hash, username } = new URL(`http://${value}`)
  if (pathname !== '/' || search || hash || username || value.includes('/')) return wrong
  const explicit = /:(\d+)$/.exec(value)?.[1]
  return hostname.replace(/\.$/, '') + (port || explicit ? `:${port || explicit}` : '')
})

export const subdomain = kind('labels of a host name, or empty', (value) =>
  value === '' || /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(value)
    ? value.toLowerCase()
    : new Problem('must be a host name label, e.g. spawner, or empty'),
)

const readAbsolutePath = (value: string) =>
  path.isAbsolute(value) && path.normalize(value) !== '/'
    ? path.normalize(value)
    : new Problem('must be an absolute path, but not /')

export const absolutePath = kind('absolute path of a folder', readAbsolutePath)

export const absolutePaths = kind('absolute paths of folders, separated by commas', (value) => {
  const read = list(value).map((each) => readAbsolutePath(each))
  const problem = read.find((each) => each instanceof Problem)
  return problem ?? read.filter((each) => typeof each === 'string')
})

const list = (value: string) =>
  value
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

/** Addresses that can sign up, in lower case. */
export const emailAddresses = kind('addresses, separated by commas', (value): ReadonlySet<string> | Problem => {
  const addresses = list(value).map((each) => each.toLowerCase())
  const wrong = addresses.find((each) => !isAddress(each))
  return wrong === undefined
    ? new Set(addresses)
    : new Problem(`"${wrong}" is not an address such as ann@example.org; several are separated by commas`)
})

/** One at least: with none, every new address would be refused. */
export const emailDomains = kind('domains, separated by commas', (value): EmailDomains | Problem => {
  const domains = list(value).map((each) => each.toLowerCase())
  if (domains.length === 0) return new Problem('must name a domain such as example.org or *.example.org')
  const wrong = domains.find((each) => !isEmailDomain(each))
  return wrong === undefined ? domains : new Problem(`"${wrong}" is not a domain such as example.org or *.example.org`)
})

/** `host` or `host:port`, as a URL has them. */
export const hosts = kind('hosts, separated by commas', (value): readonly string[] | Problem => {
  const all = list(value).map((each) => each.toLowerCase())
  const wrong = all.find((each) => URL.parse(`https://${each}/`)?.host !== each)
  return wrong === undefined ? all : new Problem(`"${wrong}" is not a host such as github.com or git.example.org:8443`)
})

/** As NVIDIA's runtime takes them: an index, a UUID, or `0:1` for an instance of a GPU. */
export const gpuIds = kind('ids of GPUs, separated by commas', (value): readonly string[] | Problem => {
  const all = list(value)
  // These name no GPU, but all or none.
  const wrong = all.find((each) => !/^[\w:.-]{1,128}$/.test(each) || /^(all|none|void)$/i.test(each))
  if (wrong !== undefined) return new Problem(`"${wrong}" is not the id of a GPU such as 0 or GPU-8f3b…`)
  return new Set(all).size === all.length ? all : new Problem('an id is named twice')
})

export const networks = kind('addresses and networks, separated by commas', (value) => {
  const wrong = list(value).find((each) => !isNetwork(each))
  return wrong === undefined ? list(value) : new Problem(`"${wrong}" is not an address or network such as 10.0.0.0/8`)
})

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
export const timeZoneName = kind('name of a time zone', (value) => {
  const given = value.replace(/^:/, '')
  const name = path.isAbsolute(given) ? zoneOfFile(given) : given
  return name !== undefined && isTimeZone(name)
    ? name
    : new Problem('must be the name of a time zone such as Europe/Berlin')
})

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

/** How people sign in: at least one of the two. */
export interface WaysToSignIn {
  readonly isByLink: boolean
  readonly isByProvider: boolean
}

export const waysToSignIn = kind('`link`, `oidc` or `link,oidc`', (value): WaysToSignIn | Problem => {
  const ways = value.split(',').map((way) => way.trim())
  return ways.every((way) => way === 'link' || way === 'oidc')
    ? { isByLink: ways.includes('link'), isByProvider: ways.includes('oidc') }
    : new Problem('must be link, oidc or link,oidc')
})

/** With whom users may share their containers. */
export interface SharingPartners {
  readonly withPeople: boolean
  readonly withGroups: boolean
}

export const sharingPartners = kind('`off`, `people`, `groups` or `people,groups`', (value) => {
  const words = list(value)
  const [withPeople, withGroups] = [words.includes('people'), words.includes('groups')]
  const isRight = words.length === 1 ? withPeople || withGroups || words[0] === 'off' : isPair(words)
  return isRight ? { withPeople, withGroups } : new Problem('must be off, people, groups or people,groups')
})

const isPair = (words: readonly string[]) => words.length === 2 && words.includes('people') && words.includes('groups')

/** Several are separated by the character that separates paths, between which there may be nothing. */
export const kubeconfig = kind('path of a file, or several separated by colons', (value) => value)

/** An RFC 1123 label. */
export const namespace = kind('at most `63` lower-case letters, digits and hyphens', (value) =>
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value)
    ? value
    : new Problem('must be lower-case letters, digits and hyphens, at most 63'),
)

/** An RFC 1123 subdomain. */
export const storageClass = kind('at most `253` lower-case letters, digits, dots and hyphens', (value) =>
  /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(value)
    ? value
    : new Problem('must be lower-case letters, digits, dots and hyphens, at most 253'),
)

export const helperImage = kind('name of an image', (value) =>
  /\s/.test(value) ? new Problem('must be the name of an image, such as busybox:1.36') : value,
)

/** Entries have addresses of people: they travel encrypted, or not beyond this machine. No problem repeats the address. */
export const webhookUrl = kind('URL with `https://`, or `http://` at a loopback address', (value) => {
  const parsed = URL.parse(value)
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol))
    return new Problem('must be an address that begins with https://')
  if (parsed.username !== '' || parsed.password !== '') return new Problem('must not contain a user name or a password')
  return parsed.protocol === 'http:' && !isLoopbackHost(parsed.hostname)
    ? new Problem('must begin with https://; http:// is accepted for a loopback address only')
    : value
})

/** Bytes of a secret (Standard Webhooks 1.0.0, "Signature scheme"). */
const [minSecretBytes, maxSecretBytes] = [24, 64]

/** Decoded secrets. */
export const webhookSecrets = kind(
  `\`whsec_\` and \`${minSecretBytes}\` to \`${maxSecretBytes}\` bytes in base64; several are separated by spaces`,
  (value): readonly Buffer[] | Problem => {
    const secrets = value.split(/\s+/).map(readWebhookSecret)
    return secrets.includes(undefined)
      ? new Problem(
          `must be whsec_ and ${minSecretBytes} to ${maxSecretBytes} bytes in base64; several are separated by spaces`,
        )
      : secrets.filter((secret) => secret !== undefined)
  },
)

function readWebhookSecret(text: string): Buffer | undefined {
  const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
  const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64')
  return bytes && bytes.length >= minSecretBytes && bytes.length <= maxSecretBytes ? bytes : undefined
}
