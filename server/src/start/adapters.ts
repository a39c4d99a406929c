import { randomInt } from 'node:crypto'
import path from 'node:path'
import type { Logger } from 'pino'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { AppParts } from './app-parts.ts'
import { smtpHeloName, type Config } from '#/config/config.ts'
import { restrictPermissions, unfinishedRestore } from '#/machine/data-folder.ts'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import { createOutbox } from '#/accounts/mail/outbox-mailer.ts'
import { createSmtpMailer } from '#/accounts/mail/smtp-mailer.ts'
import { createDockerRuntime, dockerHomeArchive } from '#/engines/docker/docker-runtime.ts'
import { inspectionOf } from '#/engines/docker/engine-inspection.ts'
import { trialEngineOf } from '#/engines/docker/trial-engine.ts'
import type { ClusterInspection, EngineInspection } from '#/engines/engine-inspection.ts'
import type { HomeArchive } from '#/engines/home-archive.ts'
import type { TrialEngine } from '#/engines/trial-engine.ts'
import type { Runtime } from '#/engines/runtime.ts'
import {
  copyBeforeMigration,
  copyNotice,
  copyPostgresBeforeMigration,
  forgetMigration,
} from '#/store/open/copy-before-migration.ts'
import { installationName, openDatabase, readInstallationName } from '#/store/database.ts'
import { readOnly } from '#/store/leader-lease.ts'
import type { LeadParts } from '#/nodes/node.ts'

export interface OpenPartsOptions {
  /** Names an installation whose store is new. */
  readonly proposeName?: () => string
  /** Of the node that leads; undefined: there is one node. */
  readonly lead?: Pick<LeadParts, 'openOptions' | 'keysOf' | 'fence'> | undefined
  /** Gets what the operator must know of a store that is migrated; by default the log does. */
  readonly notify?: (notice: string) => void
}

/**
 * Opens store and keys, and chooses the adapters by the settings; for the programs that have a store: the API process,
 * and the command line while no service runs.
 * @throws when store or keys cannot be opened
 */
export async function openParts(
  config: Config,
  log: Logger,
  { proposeName = newInstallationName, lead, notify = (notice) => log.warn(notice) }: OpenPartsOptions = {},
): Promise<Pick<AppParts, 'config' | 'log' | 'database' | 'installation' | 'key' | 'runtime' | 'mailer'>> {
  for (const left of restrictPermissions(config.dataDir)) log.warn(`others may read what they should not: ${left}`)
  const unfinished = unfinishedRestore(config.dataDir)
  if (unfinished !== undefined) throw new Error(unfinished)
  if (lead?.openOptions.isMigrated !== true) await keepCopyBeforeMigration(config, notify)
  const database = await openDatabase(config.databaseUrl, config.dataDir, lead?.openOptions)
  if (config.databaseUrl === null) forgetMigration(config.dataDir)
  const installation = await installationName(database.db, proposeName)
  const key = lead ? await lead.keysOf(database) : await loadSigningKeys(config.dataDir)
  const runtime = await runtimeFor(config, installation, log)
  return {
    config,
    log,
    database,
    installation,
    key,
    runtime: lead ? lead.fence(runtime) : runtime,
    mailer: mailerFor(config, log),
  }
}

/** What a follower asks of its engine. */
type ReadingVerb = 'capabilities' | 'inspectId' | 'list' | 'watch'

/**
 * Store and engine for the reader of a follower: connections that cannot write, and none of the orders. The leader has migrated the
 * store, and has named the installation.
 * @throws when the store is not read
 */
export async function openReadingParts(
  config: Config,
  log: Logger,
): Promise<Pick<AppParts, 'database'> & { readonly runtime: Pick<Runtime, ReadingVerb> }> {
  const database = await openDatabase(config.databaseUrl, config.dataDir, { onConnect: readOnly, isMigrated: true })
  const installation = await readInstallationName(database.db)
  const { capabilities, inspectId, list, watch } = await runtimeFor(config, installation, log)
  return { database, runtime: { capabilities, inspectId, list, watch } }
}

/** @throws when no copy can be made of a store that has migrations to run */
async function keepCopyBeforeMigration(
  { databaseUrl, dataDir }: Config,
  notify: (notice: string) => void,
): Promise<void> {
  const copied = await (databaseUrl === null
    ? copyBeforeMigration(dataDir, new Date())
    : copyPostgresBeforeMigration(databaseUrl, new Date()))
  if (copied) notify(copyNotice(copied))
}

/**
 * The adapter of a cluster is loaded with `ENGINE=kubernetes` only.
 * @param installation name of this installation @param log gets a line for each call to the engine
 * @throws {Error} for the operator, when the engine's settings cannot be used
 */
export async function runtimeFor(config: Config, installation: string, log?: Logger): Promise<Runtime> {
  const { dockerHost, hostRules, kubernetes } = config
  const common = { installation, ...(log && { log }) }
  if (kubernetes === null) return createDockerRuntime({ ...common, dockerHost, network: installation, hostRules })
  const { createKubernetesRuntime } = await import('#/engines/kubernetes/kubernetes-runtime.ts')
  return createKubernetesRuntime({ ...common, ...kubernetes })
}

/** Contents of homes, for backup and restore. @param installation name of this installation */
export async function homeArchiveFor({ dockerHost, kubernetes }: Config, installation: string): Promise<HomeArchive> {
  if (kubernetes === null) return dockerHomeArchive(installation, dockerHost)
  const { clusterHomeArchive } = await import('#/engines/kubernetes/kubernetes-runtime.ts')
  return clusterHomeArchive({ installation, ...kubernetes })
}

/** Looks at the engine, or the cluster, that change nothing, for `berth doctor`. */
export async function inspectionsFor({
  dockerHost,
  kubernetes,
}: Config): Promise<{ readonly engine: EngineInspection; readonly cluster: ClusterInspection | null }> {
  if (kubernetes === null) return { engine: inspectionOf(dockerHost), cluster: null }
  const { inspectionsOfCluster } = await import('#/engines/kubernetes/engine-inspection.ts')
  return inspectionsOfCluster(kubernetes)
}

/** An engine for the installation of `berth doctor attack`. */
export function trialEngineFor({ dockerHost }: Config): TrialEngine {
  return trialEngineOf(dockerHost)
}

/** A gateway in this process, for `berth doctor attack`; loaded then, because the API process has none. */
export async function gatewayInProcess(): Promise<Gateway & { close(timeout: number): Promise<void> }> {
  const { createNetGateway } = await import('@berth/gateway/net-gateway.ts')
  return createNetGateway()
}

/** Folder of mails when there is no mail server. */
export function outboxOf({ dataDir }: Config): string {
  return path.join(dataDir, 'outbox')
}

function mailerFor(config: Config, log: Logger): Mailer {
  return smtpMailerFor(config) ?? createOutbox(outboxOf(config), senderOf(config), log)
}

/** Null without a mail server. */
export function smtpMailerFor(config: Config): Mailer | null {
  const { smtpUrl, smtpTls } = config
  if (smtpUrl === null) return null
  return createSmtpMailer(smtpUrl, senderOf(config), { tls: smtpTls, name: smtpHeloName(config) })
}

/** With the name of the installation, unless `MAIL_FROM` has one of its own (RFC 5322, 3.4). */
function senderOf({ mailFrom, baseDomain, branding }: Config): string {
  const address = mailFrom ?? `berth@${(baseDomain ?? 'berth.localhost').replace(/:\d+$/, '')}`
  const name = branding?.name ?? null
  return name === null || address.includes('<') ? address : `"${name.replace(/["\\]/g, '\\$&')}" <${address}>`
}

/** Letters that cannot be read as a hexadecimal id, so that a container's name never looks like one. */
function newInstallationName(): string {
  return `berth-${Array.from({ length: 5 }, () => 'ghkmnpqrstvwxyz'[randomInt(15)]).join('')}`
}
