import { isIP } from 'node:net'
import type { TracingSettings } from '@berth/gateway/basics/tracer.ts'
import { isContainerLabel, isLabelEnd, maxHostName, maxLabelEnd } from '@berth/gateway/basics/host-label.ts'
import type { Provider } from '#/accounts/oidc/provider-settings.ts'
import { chosenFields, isNameList, namesIn } from '#/templates/catalogue.ts'
import {
  readTemplate,
  readTemplates,
  unlocated,
  type ReadTemplates,
  type TemplateProblem,
} from '#/templates/read-templates.ts'
import { unusableMounts } from '#/machine/mounts.ts'
import { replaceablePaths } from '#/templates/replaceable-paths.ts'
import { sharedHomeProblems } from '#/templates/shared-homes.ts'
import { TemplateSources, sourcePathsOf, type SourceFolders } from '#/templates/template-sources.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { readBrandingFile, type Branding } from './branding.ts'
import {
  readAccessLog,
  readTracing,
  readAuditWebhook,
  readEnvironments,
  readKubernetes,
  readNode,
  readSharing,
  readSignIn,
  readSnapshots,
  readTls,
  type AccessLogConfig,
  type AuditWebhookConfig,
  type EnvironmentConfig,
  type KubernetesConfig,
  type NodeConfig,
  type SharingConfig,
  type SnapshotConfig,
  type TlsConfig,
} from './config-sections.ts'
import { machineTimeZone, type WaysToSignIn } from './setting-values.ts'
import { SettingReader, followedPaths, maxLinkLimit, type ValueOf } from './settings.ts'

export type { TlsConfig } from './config-sections.ts'

/** Settings that are used as they are read: the name in `Config`, and that of the setting. */
const plainSettings = {
  host: 'HOST',
  port: 'PORT',
  dataDir: 'DATA_DIR',
  /** `postgres://...`, or null for the SQLite file in `dataDir`. */
  databaseUrl: 'DATABASE_URL',
  scheme: 'PREFERRED_URL_SCHEME',
  /** Host, with port, of front end and containers. Decided by `addressesFor` once the port is known. */
  baseDomain: 'BASE_DOMAIN',
  spawnerSubdomain: 'SPAWNER_SUBDOMAIN',
  frontendUrl: 'FRONTEND_URL',
  containerRouting: 'CONTAINER_ROUTING',
  /** The file of the templates; null: they are given as text, or are the demo's. */
  templatesFile: 'CONTAINER_TEMPLATES_FILE',
  /** Seconds. */
  accessTokenExpires: 'JWT_ACCESS_TOKEN_EXPIRES',
  /** Seconds; 0: a session ends with its token. */
  sessionIdle: 'SESSION_IDLE',
  /** Seconds. */
  sessionMax: 'SESSION_MAX',
  /** Seconds. */
  magicLinkExpiry: 'MAGIC_LINK_TOKEN_EXPIRY',
  magicLinksPerHour: 'MAGIC_LINK_RATE_LIMIT',
  /** Enumeration: whether login answers 429 for unknown addresses as it does for known ones. */
  isEnumerationStrict: 'ENUMERATION_STRICT',
  /** Whether users may register without an invitation: see `SignUpPolicy`. */
  signUp: 'SIGN_UP',
  allowedEmailDomains: 'ALLOWED_EMAIL_DOMAINS',
  /** Lifetime of the link of an invitation, in seconds. */
  invitationExpiry: 'INVITATION_EXPIRY',
  /** Rate limit: requests without a token, and without a sign-in, of one network address per minute; 0 is no limit. */
  requestsPerMinute: 'REQUESTS_PER_MINUTE',
  /** Unknown addresses that one network address may have links mailed to, per hour. */
  newAddressesPerHour: 'NEW_ADDRESSES_PER_HOUR',
  /** Bearer token that `/metrics` requires. */
  metricsToken: 'METRICS_TOKEN',
  /** Separate listener of `/metrics`; null: the public one. */
  metricsListen: 'METRICS_LISTEN',
  sshListen: 'SSH_LISTEN',
  smtpUrl: 'SMTP_URL',
  /** Whether an `smtp://` server must offer TLS; null: beyond this machine it must. */
  smtpTls: 'SMTP_TLS',
  /** Name of this host for the mail server; null: see `smtpHeloName`. */
  smtpHeloName: 'SMTP_HELO_NAME',
  mailFrom: 'MAIL_FROM',
  /** Contact for help: an e-mail address, a URL, or a text; null when none is set. */
  supportContact: 'SUPPORT_CONTACT',
  /** URI of where faults of security are reported; null when none is set. */
  securityContact: 'SECURITY_CONTACT',
  logLevel: 'LOG_LEVEL',
  /** Timeout of a request that waits for a launch, in seconds; the launch continues after that. */
  launchTimeout: 'LAUNCH_TIMEOUT',
  /** Max parallel creations and starts in the engine. */
  launchParallel: 'LAUNCH_PARALLEL',
  /** Max running containers, paused ones included: in all, and per user; null is no limit. */
  maxRunning: 'MAX_RUNNING',
  maxPerUser: 'MAX_PER_USER',
  /** Max time that a launch waits for GPUs, in seconds. */
  gpuWait: 'GPU_WAIT',
  /** Max bytes of one user's homes together; null is no limit. */
  maxDiskPerUser: 'MAX_DISK_PER_USER',
  /** Folder of archives of homes; null: in the data folder. */
  archiveDir: 'ARCHIVE_DIR',
  /** Retention of the homes of a deleted user, in seconds. */
  keepHomes: 'KEEP_HOMES',
  /** Retention of network addresses, and of e-mail addresses of deleted accounts, in the audit log, in seconds. */
  keepAuditAddresses: 'KEEP_AUDIT_ADDRESSES',
  /** Periods for which sums of use are kept; 0 for none. */
  keepUsageDays: 'KEEP_USAGE_DAYS',
  keepUsageMonths: 'KEEP_USAGE_MONTHS',
  /** Time between two measurements of CPU time and memory of containers, in seconds; 0: nothing is measured. */
  measureUsage: 'MEASURE_USAGE',
  /** Time for which users see that an administrator acted for them, in seconds. */
  keepTakeovers: 'KEEP_TAKEOVERS',
  /** Time after which a stopped and unused container is retired, in seconds; 0 is never. */
  retireAfter: 'RETIRE_AFTER',
  /** Whether Berth sets the host rules, which keep containers away from the host itself. */
  hostRules: 'HOST_RULES',
} as const

type PlainSettings = { readonly [K in keyof typeof plainSettings]: ValueOf<(typeof plainSettings)[K]> }

const readPlain = (settings: SettingReader) =>
  Object.fromEntries(Object.entries(plainSettings).map(([key, name]) => [key, settings.value(name)])) as PlainSettings

/**
 * Every setting, validated. Created once by `readConfig`, which is given the environment and does not read it itself.
 */
export interface Config extends PlainSettings {
  /** Null without TLS in Berth itself. */
  readonly tls: TlsConfig | null
  readonly templates: Templates
  /** Where templates may take secrets and mounts from. */
  readonly sources: SourceFolders
  /** Hosts of Git repositories whose files links may put into homes. */
  readonly openGitHosts: readonly string[]
  /** Limit of one mailbox, whatever the plus tag of the address. */
  readonly mailboxLinksPerHour: number
  /** How people sign in: at least one of them. */
  readonly signIn: WaysToSignIn
  /** In the order of the login page; none unless `signIn` names them. */
  readonly providers: readonly Provider[]
  readonly sharing: SharingConfig
  readonly snapshots: SnapshotConfig
  readonly environments: EnvironmentConfig
  /** How long Berth goes on after a signal to stop while `/readyz` says 503, in ms. */
  readonly drainTime: number
  /** Null: requests are not logged. */
  readonly accessLog: AccessLogConfig | null
  /** Null: no traces. */
  readonly tracing: TracingSettings | null
  /** Null: entries of the audit log are delivered nowhere. */
  readonly auditWebhook: AuditWebhookConfig | null
  readonly dockerHost: string | undefined
  /** Null: containers run on Docker. */
  readonly kubernetes: KubernetesConfig | null
  /** Null: this is the only node. */
  readonly node: NodeConfig | null
  /** Addresses and networks such as `10.0.0.0/8`, each checked. */
  readonly trustedProxies: readonly string[]
  readonly adminEmails: ReadonlySet<string>
  /** Name, logo, colours, legal texts and notices; null: Berth's own look. */
  readonly branding: Branding | null
  /** Name of the time zone of `stop_at`. */
  readonly timeZone: string
  /** Ids of the GPUs of the engine, which Berth allocates to containers; none: the engine gives them away. */
  readonly gpuIds: readonly string[]
  /** Whether images of all templates are fetched ahead; false: only of those whose containers are started ahead. */
  readonly fetchesImages: boolean
  /** ms; null: images that were pulled stay. */
  readonly keepImages: number | null
}

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
  const settings = new SettingReader(env)
  const { problems } = settings
  const folders = {
    secretsDir: settings.value('SECRETS_DIR'),
    mountRoots: settings.value('ALLOWED_MOUNT_ROOTS') ?? [],
    followed: followedPaths(env),
  }
  const timeZone = settings.value('TZ') ?? machineTimeZone()
  const config: Config = {
    ...readPlain(settings),
    tls: readTls(settings),
    ...templatesOfSettings(settings, readFile, folders),
    openGitHosts: settings.value('OPEN_GIT_HOSTS') ?? [],
    mailboxLinksPerHour: readMailboxLimit(settings),
    ...readSignIn(settings, readFile),
    sharing: readSharing(settings),
    snapshots: readSnapshots(settings),
    environments: readEnvironments(settings),
    drainTime: 1_000 * settings.value('DRAIN_TIME'),
    accessLog: readAccessLog(settings),
    tracing: readTracing(settings),
    auditWebhook: readAuditWebhook(settings),
    // Shells set it for other programs, too.
    dockerHost:
      (settings.value('ENGINE') === 'kubernetes' ? settings.given('DOCKER_HOST') : settings.value('DOCKER_HOST')) ??
      undefined,
    kubernetes: readKubernetes(settings, readFile),
    node: readNode(settings),
    trustedProxies: settings.value('TRUSTED_PROXIES') ?? [],
    adminEmails: settings.value('ADMIN_EMAILS') ?? new Set(),
    gpuIds: settings.value('ENGINE') === 'kubernetes' ? [] : (settings.value('GPU_IDS') ?? []),
    fetchesImages: settings.value('FETCH_IMAGES') === 'all',
    keepImages: settings.value('KEEP_IMAGES') === 0 ? null : settings.value('KEEP_IMAGES') * 1_000,
    branding: readBrandingFile(settings.value('BRANDING_FILE'), readFile, timeZone, problems),
    timeZone,
  }
  problems.push(...environmentProblems(config))
  if (config.containerRouting === 'subdomain') problems.push(...subdomainProblems(config))
  return problems.length === 0 ? { config, problems: [] } : { config: null, problems }
}

/** At least the limit of one address: otherwise it would lower that. */
function readMailboxLimit(settings: SettingReader): number {
  const ofAddress = settings.value('MAGIC_LINK_RATE_LIMIT')
  const limit = settings.value('MAILBOX_RATE_LIMIT') ?? Math.max(100, 10 * ofAddress)
  if (limit < ofAddress)
    settings.problems.push(`MAILBOX_RATE_LIMIT: must be a whole number from ${ofAddress} to ${maxLinkLimit}`)
  return limit
}

/** The data folder alone, for programs that look for a running service and need no other setting. */
export function dataDirIn(env: Readonly<Record<string, string | undefined>>): string {
  return new SettingReader(env).value('DATA_DIR')
}

/** The demo images that set-up builds; used when the operator names no template. */
const demo = {
  dev: {
    display_name: 'Development',
    icon: 'code',
    description: 'A workspace in the browser: files, editor and terminal',
  },
  prod: {
    display_name: 'Production',
    icon: 'globe',
    description: 'A site that serves the files of its home',
  },
} as const

/**
 * The templates of `CONTAINER_TEMPLATES` (names of the catalogue, or a map), of the file of `CONTAINER_TEMPLATES_FILE`,
 * or the demo's.
 * @param folders what secrets and mounts are looked for in
 */
function templatesOfSettings(
  settings: SettingReader,
  readFile: (path: string) => string,
  folders: SourceFolders,
): { readonly templates: Templates; readonly sources: SourceFolders } {
  const inline = settings.value('CONTAINER_TEMPLATES')
  const file = settings.value('CONTAINER_TEMPLATES_FILE')
  if (inline !== null && file !== null)
    settings.problems.push('CONTAINER_TEMPLATES and CONTAINER_TEMPLATES_FILE: set one of them, not both')
  const read =
    inline !== null ? readInline(inline) : file !== null ? readTemplatesFile(file, readFile) : demoTemplates(settings)
  const sources = withUnusable(folders, read.templates)
  settings.problems.push(...read.problems, ...problemsOfSources(read, sources))
  // A placeholder keeps the rest readable while the problems are collected; it is never served.
  const templates = new Templates(read.templates.length > 0 ? read.templates : demoTemplates(settings).templates)
  return { templates, sources }
}

/** Asks first whether the file systems answer that will be looked at: one without its server would stop the whole process. */
function withUnusable(folders: SourceFolders, templates: readonly Template[]): SourceFolders {
  const { secretsDir, mountRoots } = folders
  const unusable = unusableMounts([
    ...mountRoots,
    ...(secretsDir === null ? [] : [secretsDir]),
    ...templates.flatMap((template) => sourcePathsOf(template, folders)),
  ])
  return { ...folders, unusable }
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
  const ofAll = [...sharedHomeProblems(templates), ...replaceablePaths(templates, folders)]
  return [...ofEach, ...ofAll].map(({ type, problem }) => locate(type, problem))
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
  return {
    ...read,
    problems: [...read.problems, ...problemsOfSources(read, withUnusable(folders, read.templates)), ...ofTemplates],
  }
}

function readTemplatesFile(file: string, readFile: (path: string) => string): ReadTemplates {
  try {
    return readTemplates(readFile(file), `CONTAINER_TEMPLATES_FILE (${file})`)
  } catch (error) {
    const problem = `CONTAINER_TEMPLATES_FILE: cannot read ${file}: ${(error as Error).message}`
    return { templates: [], problems: [problem], locate: unlocated }
  }
}

function demoTemplates(settings: SettingReader): ReadTemplates {
  const fields = [
    readTemplate('dev', { ...demo.dev, image: settings.value('USER_TEMPLATE_IMAGE_DEV') }),
    readTemplate('prod', { ...demo.prod, image: settings.value('USER_TEMPLATE_IMAGE_PROD') }),
  ]
  return {
    templates: fields.flatMap(({ template }) => template ?? []),
    problems: fields.flatMap(({ problems }) => problems),
    locate: unlocated,
  }
}

/** Templates that name an environment although Berth builds none. */
function environmentProblems({ environments, templates }: Config): string[] {
  if (environments.mode !== 'off') return []
  const named = templates.all().filter(({ environment }) => environment !== null)
  return named.map(
    ({ type, environment }) =>
      `${type}: environment names ${environment}, and ENVIRONMENTS is off, so there are none: switch it on, or name an image`,
  )
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
