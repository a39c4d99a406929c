import path from 'node:path'
import type { Branding } from './branding.ts'
import { readBrandingFile } from './read-branding-file.ts'
import type { Provider } from '#/accounts/oidc/provider-settings.ts'
import type { EmailDomains } from '#/accounts/sign-up/email-address.ts'
import type { SourceFolders } from '#/templates/template-sources.ts'
import type { Templates } from '#/templates/template.ts'
import type { SmtpTls } from '#/accounts/mail/mail-transport.ts'
import { subdomainProblems, type ContainerRouting } from './container-routing.ts'
import { followedPaths } from './followed-paths.ts'
import { readAccessLog, type AccessLogConfig } from './read-access-log.ts'
import { readAuditWebhook, type AuditWebhookConfig } from './read-audit-webhook.ts'
import { readNode, type NodeConfig } from './read-node.ts'
import { readKubernetes, type KubernetesConfig } from './read-kubernetes.ts'
import { readSharing, type SharingConfig } from './read-sharing.ts'
import { readSnapshots, type SnapshotConfig } from './read-snapshots.ts'
import { readSignIn, type WaysToSignIn } from './read-sign-in.ts'
import { readAllTemplates } from './read-template-settings.ts'
import { readTls, type TlsConfig } from './read-tls.ts'
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

/** Every setting, validated. Created once by `readConfig`, which is given the environment and does not read it itself. */
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
  /** Of one mailbox, whatever the plus tag of the address. */
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
