import { isIP } from 'node:net'
import path from 'node:path'
import { isContainerLabel, isLabelEnd, maxHostName, maxLabelEnd } from '@berth/gateway/basics/host-label.ts'
import type { SmtpTls } from '#/accounts/mail/mail-transport.ts'
import type { Provider } from '#/accounts/oidc/provider-settings.ts'
import type { EmailDomains } from '#/accounts/sign-up/email-address.ts'
import { chosenFields, isNameList, namesIn } from '#/templates/catalogue.ts'
import {
  readTemplate,
  readTemplates,
  unlocated,
  type ReadTemplates,
  type TemplateProblem,
} from '#/templates/read-templates.ts'
import { replaceablePaths } from '#/templates/replaceable-paths.ts'
import { TemplateSources, type SourceFolders } from '#/templates/template-sources.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { readBrandingFile, type Branding } from './branding.ts'
import {
  readAccessLog,
  readAuditWebhook,
  readKubernetes,
  readNode,
  readSharing,
  readSignIn,
  readSnapshots,
  readTls,
  type AccessLogConfig,
  type AuditWebhookConfig,
  type KubernetesConfig,
  type NodeConfig,
  type SharingConfig,
  type SnapshotConfig,
  type TlsConfig,
  type WaysToSignIn,
} from './config-sections.ts'
import { followedPaths } from './followed-paths.ts'
import type { SettingName } from './setting-descriptions.ts'
import {
  Problem,
  absolutePath,
  absolutePaths,
  bearer,
  bindAddress,
  contact,
  databaseUrl,
  dockerHost,
  domain,
  emailAddresses,
  emailDomains,
  listenAddress,
  machineTimeZone,
  heloName,
  mailServer,
  networks,
  oneOf,
  sender,
  size,
  subdomain,
  timeZoneName,
  webUrl,
  whole,
  wholeOrZero,
  type ListenAddress,
} from './setting-values.ts'

/**
 * Every setting, validated. Created once by `readConfig`, which is given the environment and does not read it itself.
 */
export interface Config {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  /** `postgres://...`, or null for the SQLite file in `dataDir`. */
  readonly databaseUrl: string | null
  readonly scheme: 'http' | 'https'
  /** Null without TLS in Berth itself. */
  readonly tls: TlsConfig | null
  /** Host, with port, of front end and containers. Decided by `addressesFor` once the port is known. */
  readonly baseDomain: string | null
  readonly spawnerSubdomain: string
  readonly frontendUrl: string | null
  readonly containerRouting: ContainerRouting
  readonly templates: Templates
  /** The file of the templates; null: they are given as text, or are the demo's. */
  readonly templatesFile: string | null
  /** Where templates may take secrets and mounts from. */
  readonly sources: SourceFolders
  /** Seconds. */
  readonly accessTokenExpires: number
  /** Seconds; 0: a session ends with its token. */
  readonly sessionIdle: number
  /** Seconds. */
  readonly sessionMax: number
  /** Seconds. */
  readonly magicLinkExpiry: number
  readonly magicLinksPerHour: number
  /** Limit of one mailbox, whatever the plus tag of the address. */
  readonly mailboxLinksPerHour: number
  /** Enumeration: whether login answers 429 for unknown addresses as it does for known ones. */
  readonly isEnumerationStrict: boolean
  /** Whether users may register without an invitation: see `SignUpPolicy`. */
  readonly signUp: 'open' | 'invited'
  readonly allowedEmailDomains: EmailDomains | null
  /** How people sign in: at least one of them. */
  readonly signIn: WaysToSignIn
  /** In the order of the login page; none unless `signIn` names them. */
  readonly providers: readonly Provider[]
  readonly sharing: SharingConfig
  readonly snapshots: SnapshotConfig
  /** Lifetime of the link of an invitation, in seconds. */
  readonly invitationExpiry: number
  /** Rate limit: requests without a token, and without a sign-in, of one network address per minute; 0 is no limit. */
  readonly requestsPerMinute: number
  /** Unknown addresses that one network address may have links mailed to, per hour. */
  readonly newAddressesPerHour: number
  /** Bearer token that `/metrics` requires. */
  readonly metricsToken: string | null
  /** Separate listener of `/metrics`; null: the public one. */
  readonly metricsListen: ListenAddress | null
  /** How long Berth goes on after a signal to stop while `/readyz` says 503, in ms. */
  readonly drainTime: number
  /** Null: requests are not logged. */
  readonly accessLog: AccessLogConfig | null
  /** Null: entries of the audit log are delivered nowhere. */
  readonly auditWebhook: AuditWebhookConfig | null
  readonly smtpUrl: string | null
  /** Whether an `smtp://` server must offer TLS; null: beyond this machine it must. */
  readonly smtpTls: SmtpTls | null
  /** Name of this host for the mail server; null: see `smtpHeloName`. */
  readonly smtpHeloName: string | null
  readonly mailFrom: string | null
  readonly dockerHost: string | undefined
  /** Null: containers run on Docker. */
  readonly kubernetes: KubernetesConfig | null
  /** Null: this is the only node. */
  readonly node: NodeConfig | null
  /** Addresses and networks such as `10.0.0.0/8`, each checked. */
  readonly trustedProxies: readonly string[]
  readonly adminEmails: ReadonlySet<string>
  /** Contact for help: an e-mail address, a URL, or a text; null when none is set. */
  readonly supportContact: string | null
  /** Name, logo, colours, legal texts and notices; null: Berth's own look. */
  readonly branding: Branding | null
  readonly logLevel: string
  /** Name of the time zone of `stop_at`. */
  readonly timeZone: string
  /** Timeout of a request that waits for a launch, in seconds; the launch continues after that. */
  readonly launchTimeout: number
  /** Max parallel creations and starts in the engine. */
  readonly launchParallel: number
  /** Max running containers, paused ones included: in all, and per user; null is no limit. */
  readonly maxRunning: number | null
  readonly maxPerUser: number | null
  /** Max bytes of one user's homes together; null is no limit. */
  readonly maxDiskPerUser: number | null
  /** Folder of archives of homes; null: in the data folder. */
  readonly archiveDir: string | null
  /** Retention of the homes of a deleted user, in seconds. */
  readonly keepHomes: number
  /** Retention of network addresses, and of e-mail addresses of deleted accounts, in the audit log, in seconds. */
  readonly keepAuditAddresses: number
  /** Periods for which sums of use are kept; 0 for none. */
  readonly keepUsageDays: number
  readonly keepUsageMonths: number
  /** Time between two measurements of CPU time and memory of containers, in seconds; 0: nothing is measured. */
  readonly measureUsage: number
  /** Whether images of all templates are fetched ahead; false: only of those whose containers are started ahead. */
  readonly fetchesImages: boolean
  /** Time for which users see that an administrator acted for them, in seconds. */
  readonly keepTakeovers: number
  /** Time after which a stopped and unused container is retired, in seconds; 0 is never. */
  readonly retireAfter: number
  /** Whether Berth sets the host rules, which keep containers away from the host itself. */
  readonly hostRules: 'auto' | 'off'
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Reads and validates every setting.
 * @param env      the environment; an empty value counts as not set, except where "empty" means something
 * @param readFile reads the files that settings name; throws when it cannot
 * @returns the configuration, or all problems at once, each a sentence that names its variable
 */
export function readConfig(
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): { config: Config; problems: [] } | { config: null; problems: string[] } {
  const problems: string[] = []
  const text = (name: SettingName) => env[name]?.trim() || null
  const check = <T>(name: SettingName, fallback: T, read: (value: string) => T | Problem): T => {
    const value = text(name)
    const result = value === null ? fallback : read(value)
    if (!(result instanceof Problem)) return result
    problems.push(`${name}: ${result.words}`)
    return fallback
  }
  const sources = {
    secretsDir: check('SECRETS_DIR', null, absolutePath),
    mountRoots: check('ALLOWED_MOUNT_ROOTS', [], absolutePaths),
    followed: followedPaths(env),
  }
  const timeZone = check('TZ', machineTimeZone(), timeZoneName)
  const magicLinksPerHour = check('MAGIC_LINK_RATE_LIMIT', 3, whole(1, 1_000_000_000))
  const config: Config = {
    host: check('HOST', '127.0.0.1', bindAddress),
    port: check('PORT', 8080, whole(0, 65_535)),
    dataDir: dataDirIn(env),
    databaseUrl: check('DATABASE_URL', null, databaseUrl),
    scheme: check('PREFERRED_URL_SCHEME', 'http', oneOf('http', 'https')),
    tls: readTls(text, problems),
    baseDomain: check('BASE_DOMAIN', null, domain),
    spawnerSubdomain: env.SPAWNER_SUBDOMAIN === undefined ? 'spawner' : check('SPAWNER_SUBDOMAIN', '', subdomain),
    frontendUrl: check('FRONTEND_URL', null, webUrl),
    containerRouting: check('CONTAINER_ROUTING', 'path', oneOf('path', 'subdomain')),
    templates: readAllTemplates(text, readFile, sources, problems),
    templatesFile: text('CONTAINER_TEMPLATES_FILE'),
    sources,
    accessTokenExpires: check('JWT_ACCESS_TOKEN_EXPIRES', 3600, whole(1, 31_536_000)),
    sessionIdle: check('SESSION_IDLE', 1_209_600, whole(0, 315_360_000)),
    sessionMax: check('SESSION_MAX', 7_776_000, whole(1, 315_360_000)),
    magicLinkExpiry: check('MAGIC_LINK_TOKEN_EXPIRY', 900, whole(1, 2_592_000)),
    magicLinksPerHour,
    // At least the limit of one address: otherwise it would lower that.
    mailboxLinksPerHour: check(
      'MAILBOX_RATE_LIMIT',
      Math.max(100, 10 * magicLinksPerHour),
      whole(magicLinksPerHour, 10_000_000_000),
    ),
    isEnumerationStrict: check('ENUMERATION_STRICT', '0', oneOf('0', '1')) === '1',
    signUp: check('SIGN_UP', 'open', oneOf('open', 'invited')),
    ...readSignIn(text, readFile, problems),
    sharing: readSharing(text, problems),
    snapshots: readSnapshots(text, problems),
    allowedEmailDomains: check('ALLOWED_EMAIL_DOMAINS', null, emailDomains),
    invitationExpiry: check('INVITATION_EXPIRY', 604_800, whole(1, 31_536_000)),
    requestsPerMinute: check('REQUESTS_PER_MINUTE', 600, whole(0, 1_000_000)),
    newAddressesPerHour: check('NEW_ADDRESSES_PER_HOUR', 1_000, whole(1, 1_000_000)),
    metricsToken: check('METRICS_TOKEN', null, bearer),
    metricsListen: check('METRICS_LISTEN', null, listenAddress),
    drainTime: 1_000 * check('DRAIN_TIME', 0, whole(0, 300)),
    accessLog: readAccessLog(text, problems),
    auditWebhook: readAuditWebhook(text, problems),
    smtpUrl: check('SMTP_URL', null, mailServer),
    smtpTls: check('SMTP_TLS', null, oneOf('required', 'opportunistic')),
    smtpHeloName: check('SMTP_HELO_NAME', null, heloName),
    mailFrom: check('MAIL_FROM', null, sender),
    // Shells set it for other programs, too.
    dockerHost: check('DOCKER_HOST', undefined, text('ENGINE') === 'kubernetes' ? (value) => value : dockerHost),
    kubernetes: readKubernetes(text, readFile, problems),
    node: readNode(text, problems),
    trustedProxies: check('TRUSTED_PROXIES', [], networks),
    adminEmails: check('ADMIN_EMAILS', new Set<string>(), emailAddresses),
    launchTimeout: check('LAUNCH_TIMEOUT', 180, whole(1, 3_600)),
    launchParallel: check('LAUNCH_PARALLEL', 4, whole(1, 64)),
    maxRunning: check('MAX_RUNNING', null, whole(1, 1_000_000)),
    maxPerUser: check('MAX_PER_USER', null, whole(1, 1_000)),
    maxDiskPerUser: check('MAX_DISK_PER_USER', null, size),
    archiveDir: check('ARCHIVE_DIR', null, absolutePath),
    keepHomes: check('KEEP_HOMES', 2_592_000, whole(0, 315_360_000)),
    keepAuditAddresses: check('KEEP_AUDIT_ADDRESSES', 7_776_000, whole(0, 315_360_000)),
    keepTakeovers: check('KEEP_TAKEOVERS', 2_592_000, whole(0, 315_360_000)),
    keepUsageDays: check('KEEP_USAGE_DAYS', 30, whole(0, 3_660)),
    keepUsageMonths: check('KEEP_USAGE_MONTHS', 24, whole(0, 1_200)),
    fetchesImages: check('FETCH_IMAGES', 'all', oneOf('all', 'prestart')) === 'all',
    measureUsage: check('MEASURE_USAGE', 0, wholeOrZero(60, 86_400)),
    retireAfter: check('RETIRE_AFTER', 1_209_600, whole(0, 315_360_000)),
    hostRules: check('HOST_RULES', 'auto', oneOf('auto', 'off')),
    supportContact: check('SUPPORT_CONTACT', null, contact),
    branding: readBrandingFile(text, readFile, timeZone, problems),
    timeZone,
    logLevel: check('LOG_LEVEL', 'info', (value) =>
      logLevels.includes(value) ? value : new Problem(`must be one of ${logLevels.join(', ')}`),
    ),
  }
  if (config.containerRouting === 'subdomain') problems.push(...subdomainProblems(config))
  return problems.length === 0 ? { config, problems: [] } : { config: null, problems }
}

/** The data folder alone, for programs that look for a running service and need no other setting. */
export function dataDirIn(env: Readonly<Record<string, string | undefined>>): string {
  return path.resolve(env.DATA_DIR?.trim() || './data')
}

/** The demo images that set-up builds; used when the operator names no template. */
const demo = {
  dev: {
    display_name: 'Development',
    description: 'A workspace in the browser: files, editor and terminal',
    image: 'berth-demo-dev:latest',
  },
  prod: {
    display_name: 'Production',
    description: 'A site that serves the files of its home',
    image: 'berth-demo-prod:latest',
  },
} as const

/**
 * The templates of `CONTAINER_TEMPLATES` (names of the catalogue, or a map), of the file of `CONTAINER_TEMPLATES_FILE`,
 * or the demo's.
 * @param folders what secrets and mounts are looked for in @param problems gets a sentence for each problem found
 */
function readAllTemplates(
  text: (name: SettingName) => string | null,
  readFile: (path: string) => string,
  folders: SourceFolders,
  problems: string[],
): Templates {
  const inline = text('CONTAINER_TEMPLATES')
  const file = text('CONTAINER_TEMPLATES_FILE')
  if (inline !== null && file !== null)
    problems.push('CONTAINER_TEMPLATES and CONTAINER_TEMPLATES_FILE: set one of them, not both')
  const read =
    inline !== null ? readInline(inline) : file !== null ? readTemplatesFile(file, readFile) : demoTemplates(text)
  problems.push(...read.problems, ...problemsOfSources(read, folders))
  // A placeholder keeps the rest readable while the problems are collected; it is never served.
  return new Templates(read.templates.length > 0 ? read.templates : demoTemplates(text).templates)
}

function readInline(text: string): ReadTemplates {
  const source = 'CONTAINER_TEMPLATES'
  if (isNameList(text)) return templatesOfNames(text, source)
  if (/^\S+\.(ya?ml|json)$|^[./~]\S*$/.test(text))
    return {
      templates: [],
      problems: [`${source}: "${text}" looks like the path of a file, which the setting with _FILE at its end takes`],
      locate: unlocated,
    }
  return readTemplates(text, source)
}

/**
 * Templates of the catalogue by their names, each the type of its template.
 * @param list names, separated by commas @param source how the operator knows the list, for the messages
 */
export function templatesOfNames(list: string, source: string): ReadTemplates {
  const names = namesIn(list)
  const read = names.map((name, at) => {
    if (names.indexOf(name) < at) return { problems: [`"${name}" is named twice`] }
    const chosen = chosenFields(name)
    return 'problem' in chosen ? { problems: [chosen.problem] } : readTemplate(name, chosen.fields)
  })
  return {
    templates: read.flatMap((each) => ('template' in each && each.template ? each.template : [])),
    problems: read.flatMap(({ problems }) => problems.map((problem) => `${source}: ${problem}`)),
    locate: unlocated,
  }
}

const problemsOfSources = ({ templates, locate }: ReadTemplates, folders: SourceFolders): string[] => {
  const sources = new TemplateSources(folders)
  const ofEach = templates.flatMap((template) =>
    sources.problemsOf(template).map((problem) => ({ type: template.type, problem })),
  )
  return [...ofEach, ...replaceablePaths(templates, folders)].map(({ type, problem }) => locate(type, problem))
}

/** The templates of a file, and every problem of them, of the sources that they name, and of their hosts. */
export function readTemplateFile(
  file: string,
  readFile: (path: string) => string,
  folders: SourceFolders,
  routing: ContainerRouting = 'path',
): ReadTemplates {
  const read = readTemplatesFile(file, readFile)
  const ofHosts = routing === 'subdomain' ? hostLabelProblems(read.templates) : []
  const ofTemplates = ofHosts.map(({ type, problem }) => read.locate(type, problem))
  return { ...read, problems: [...read.problems, ...problemsOfSources(read, folders), ...ofTemplates] }
}

function readTemplatesFile(file: string, readFile: (path: string) => string): ReadTemplates {
  try {
    return readTemplates(readFile(file), `CONTAINER_TEMPLATES_FILE (${file})`)
  } catch (error) {
    const problem = `CONTAINER_TEMPLATES_FILE: cannot read ${file}: ${(error as Error).message}`
    return { templates: [], problems: [problem], locate: unlocated }
  }
}

function demoTemplates(text: (name: SettingName) => string | null): ReadTemplates {
  const fields = [
    readTemplate('dev', { ...demo.dev, image: text('USER_TEMPLATE_IMAGE_DEV') ?? demo.dev.image }),
    readTemplate('prod', { ...demo.prod, image: text('USER_TEMPLATE_IMAGE_PROD') ?? demo.prod.image }),
  ]
  return {
    templates: fields.flatMap(({ template }) => template ?? []),
    problems: fields.flatMap(({ problems }) => problems),
    locate: unlocated,
  }
}

/** How containers are addressed: by the first segment of a path, or by a host of their own. */
type ContainerRouting = 'path' | 'subdomain'

/** Why these settings cannot give each container a host of its own; each a sentence that names its variable. */
function subdomainProblems({ baseDomain, spawnerSubdomain, frontendUrl, templates }: Config): string[] {
  const host = platformNameIn(baseDomain, spawnerSubdomain)
  const front = frontendUrl === null ? null : new URL(frontendUrl).hostname
  const label = front?.endsWith(`.${host}`) ? front.slice(0, -host.length - 1) : ''
  return [
    ...(isAddress(host)
      ? ['CONTAINER_ROUTING=subdomain: BASE_DOMAIN must be a name, because an address has no subdomains']
      : []),
    ...(host.length + maxLabelAndDot > maxHostName
      ? [`CONTAINER_ROUTING=subdomain: ${host} is too long: at most ${maxHostName - maxLabelAndDot} characters`]
      : []),
    ...(isContainerLabel(label)
      ? [`FRONTEND_URL: ${front} has the form of a container's host, which CONTAINER_ROUTING=subdomain reserves`]
      : []),
    ...hostLabelProblems(templates.all()).map(({ problem }) => problem),
  ]
}

/** Why containers of these templates cannot have hosts of their own. */
function hostLabelProblems(templates: readonly Template[]): TemplateProblem[] {
  return templates.flatMap(({ type, forwardToken }) => {
    const problems = [
      ...(isLabelEnd(type)
        ? []
        : [
            `the container type "${type}" cannot stand in a host name: at most ${maxLabelEnd} lower-case letters, digits and hyphens, with no hyphen at its beginning or end`,
          ]),
      ...(forwardToken === 'full'
        ? [
            `forward_token: full of the container type "${type}": the token of a sign-in never reaches the host of a container; leave it out`,
          ]
        : []),
    ]
    return problems.map((problem) => ({ type, problem: `CONTAINER_ROUTING=subdomain: ${problem}` }))
  })
}

/** A label has at most 63 octets. */
const maxLabelAndDot = 64

/** Name of the spawner host, without a port. */
export function platformNameIn(baseDomain: string | null, spawnerSubdomain: string): string {
  const base = (baseDomain ?? 'berth.localhost').replace(/:\d+$/, '')
  return spawnerSubdomain === '' ? base : `${spawnerSubdomain}.${base}`
}

const isAddress = (host: string) => host.endsWith(']') || isIP(host) !== 0 || /\.\d+$/.test(host)

/** Addresses that are derived from the settings and, for the default domain, from the bound port. */
export interface Addresses {
  /** Origin of the host of a container, by its prefix; null when containers are below paths. */
  readonly containerOrigin: ((prefix: string) => string) | null
  /** `{scheme}://{spawner_host}`: base URL of containers. */
  readonly spawnerUrl: string
  readonly frontendUrl: string
  /** Domain attribute of the cookie: the host part of the base domain, without its port. */
  readonly cookieDomain: string
}

/**
 * Whether browsers have the companion of a token wherever the token counts, so that one without it counts for nothing: with https,
 * unless people sign in at another host (`FRONTEND_URL`) than that of the containers, where the companion is not sent.
 */
export function requiresCompanion(
  { scheme }: Pick<Config, 'scheme'>,
  { containerOrigin, frontendUrl, spawnerUrl }: Addresses,
): boolean {
  if (scheme !== 'https') return false
  return containerOrigin !== null || new URL(frontendUrl).hostname === new URL(spawnerUrl).hostname
}

/** @param boundPort port of the listener; part of the default base domain */
export function addressesFor(config: Config, boundPort: number): Addresses {
  const baseDomain = config.baseDomain ?? `berth.localhost:${boundPort}`
  const host = config.spawnerSubdomain === '' ? baseDomain : `${config.spawnerSubdomain}.${baseDomain}`
  const spawnerUrl = `${config.scheme}://${host}`
  const containerOrigin =
    config.containerRouting === 'subdomain'
      ? (prefix: string) => `${config.scheme}://${prefix}.${new URL(spawnerUrl).host}`
      : null
  return {
    containerOrigin,
    spawnerUrl,
    frontendUrl: config.frontendUrl ?? spawnerUrl,
    cookieDomain: baseDomain.replace(/:\d+$/, ''),
  }
}

/**
 * Who mails come from, for the mail server: the name in `SMTP_HELO_NAME`, or the host of the addresses in mails; an
 * address in brackets (RFC 5321, 4.1.3).
 */
export function smtpHeloName(config: Config): string {
  if (config.smtpHeloName !== null) return config.smtpHeloName
  const { hostname } = new URL(addressesFor(config, config.port).frontendUrl)
  if (hostname.startsWith('[')) return `[IPv6:${hostname.slice(1)}`
  return isIP(hostname) === 4 ? `[${hostname}]` : hostname
}
