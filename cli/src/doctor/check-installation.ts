import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { checkStore, readReplication } from '@berth/server/store/check-store.ts'
import { warnings as texts } from '@berth/texts/en/warnings.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import type { MessageKey } from '@berth/texts/localized-message.ts'
import { readLastBackup } from '#/backup/create-backup.ts'
import { isAboutProxies } from './check-network.ts'
import type { CheckContext, Finding, Level } from './check.ts'

/** Warnings of the settings that other checks judge, with what they see beside. */
const elsewhere: ReadonlySet<MessageKey> = new Set<MessageKey>([
  'findings.plainHttp',
  'findings.openListener',
  'findings.certificateEnds',
  'findings.noTrustedProxy',
  'findings.anyTrustedProxy',
  'findings.noMailServer',
  'findings.outboxOfEachNode',
  'findings.plainMail',
  'findings.noHostRules',
])

/** Decisions that an operator may take; every other one is a warning. */
const levelOf: Partial<Record<MessageKey, Level>> = {
  'findings.nowhere': 'critical',
  'findings.noMemoryLimit': 'critical',
  'findings.publicSandbox': 'hint',
  'findings.authenticatedSandbox': 'hint',
}

/** What settings switch off, and what has no effect. Each sentence says what to set. */
export async function checkSettings({ warnings, notes }: CheckContext): Promise<Finding[]> {
  const judged = warnings.filter(({ key }) => !elsewhere.has(key))
  return [
    ...judged.map((warning) => ({
      level: levelOf[warning.key] ?? ('warning' as const),
      what: localize(defaultLanguage, warning),
      fix: 'change it in berth.env or in the templates; then: berth config check && systemctl reload berth',
    })),
    ...notes.map(
      (what) => ({ level: 'hint', what, fix: 'remove it, correct its name, or set what it counts with' }) as const,
    ),
  ]
}

/** Begin of the warning that the check of the host rules judges. */
const [aboutHostRules = ''] = texts.noRules.split('{')

const isJudgedElsewhere = (warning: string) => isAboutProxies(warning) || warning.startsWith(aboutHostRules)

/** Whether Berth runs, and what it reports of itself. */
export async function checkService({ service, warnings, config }: CheckContext): Promise<Finding[]> {
  if (service === null) return [notRunning(config.dataDir)]
  if (typeof service === 'string')
    return [{ level: 'critical', what: service, fix: 'journalctl -u berth; systemctl restart berth' }]
  const known = new Set(warnings.map((each) => localize(defaultLanguage, each)))
  const own = service.warnings.filter((each) => !known.has(each) && !isJudgedElsewhere(each))
  const failures = service.reconciler.failures.map((what): Finding => ({
    level: 'critical',
    what,
    fix: 'journalctl -u berth',
  }))
  return [
    ...failures,
    ...own.map((what): Finding => ({ level: 'warning', what, fix: 'see the page System' })),
    ...mailFindings(service.mail),
  ]
}

/** Mails that were not accepted, if they are more than a few of all. */
function mailFindings({
  accepted,
  failed,
  failures,
}: {
  accepted: number
  failed: number
  failures: readonly { reason: string }[]
}): Finding[] {
  if (failed === 0 || failed * 20 < accepted + failed) return []
  return [
    {
      level: 'warning',
      what: `${failed} of ${accepted + failed} mails were not accepted since the start; the last: ${failures[0]?.reason ?? 'not known'}.`,
      fix: 'see the page System, and docs/how-to/diagnose-late-mail.md',
    },
  ]
}

const notRunning = (dataDir: string): Finding => ({
  level: 'hint',
  what: `Berth does not run (data in ${dataDir}); what only a running service knows was not checked.`,
  fix: 'systemctl start berth',
})

/** Whether the database answers. */
export async function checkStoreAnswers({ config }: CheckContext): Promise<Finding[]> {
  const failure = await checkStore(config.databaseUrl, config.dataDir).then(
    () => undefined,
    (error: unknown) => error as Error,
  )
  if (!failure) return []
  const { message, cause } = failure
  return [
    {
      level: 'critical',
      what: `The store does not answer (${cause instanceof Error ? cause.message : message}): Berth answers every request with 503.`,
      fix:
        config.databaseUrl === null
          ? `restore a backup: berth restore (see docs/how-to/back-up-and-restore.md)`
          : 'systemctl start postgresql; check DATABASE_URL',
    },
  ]
}

type Nodes = SystemReport['nodes']

/** Whether the nodes of this installation can take over from each other. */
export async function checkNodes({ config, service }: CheckContext): Promise<Finding[]> {
  if (!config.node) return []
  const nodes = service === null || typeof service === 'string' ? [] : service.nodes
  return [
    ...nodes.flatMap(stateOf),
    ...numberOf(nodes),
    ...versionsOf(nodes),
    ...(await replicationOf(config.databaseUrl)),
  ]
}

function stateOf({ address, is_alive, is_current, seen_at }: Nodes[number]): Finding[] {
  if (!is_alive)
    return [
      {
        level: 'warning',
        what: `Node ${address} has sent no heartbeat since ${seen_at}.`,
        fix: 'start it, or see its log; a node that was taken away for good is forgotten after a day',
      },
    ]
  if (is_current) return []
  return [
    {
      level: 'critical',
      what: `Node ${address} refuses containers, because it does not reach the node that leads: a load balancer may still send it requests.`,
      fix: `on that node: can it connect to NODE_ADDRESS of the leader, and the leader to ${address}? See its log`,
    },
  ]
}

function numberOf(nodes: Nodes): Finding[] {
  if (nodes.length === 0 || nodes.filter(({ is_alive }) => is_alive).length > 1) return []
  const what = 'One node runs, with NODE_ADDRESS: no other one takes over when it ends.'
  return [{ level: 'hint', what, fix: 'start a second one: docs/how-to/run-several-nodes.md' }]
}

function versionsOf(nodes: Nodes): Finding[] {
  const versions = [...new Set(nodes.filter(({ is_alive }) => is_alive).map(({ version }) => version))].sort()
  if (versions.length < 2) return []
  const what = `Nodes run versions ${versions.join(' and ')}: an upgrade is not finished.`
  return [{ level: 'hint', what, fix: 'upgrade the others: docs/how-to/run-several-nodes.md' }]
}

/** @throws {StoreFailure} when the database does not answer, which another check reports */
async function replicationOf(databaseUrl: string | null): Promise<Finding[]> {
  if (databaseUrl === null) return []
  const { standbys, synchronous } = await readReplication(databaseUrl)
  if (standbys === 0 || synchronous !== 0) return []
  return [
    {
      level: 'warning',
      what: 'PostgreSQL replicates to its standby asynchronously: a failover may lose what was answered last, such as a block.',
      fix: 'set synchronous_standby_names in PostgreSQL',
    },
  ]
}

const day = 86_400_000

/** Ages of the last backup that are findings, in ms; a nightly one may be late once. */
const [old, tooOld] = [2 * day, 7 * day]

const nightly = 'berth backup /var/backups/berth --keep 14, every night by a timer: docs/how-to/back-up-and-restore.md'

/** Whether there is a backup, recent, complete, with homes, and on another disk than the data. */
export async function checkBackups({ config, now }: CheckContext): Promise<Finding[]> {
  const { dataDir } = config
  // The keys are made by the first start, whatever the database.
  const keys = path.join(dataDir, 'signing-key.json')
  if (!existsSync(keys)) return []
  const last = readLastBackup(dataDir)
  if (!last) return [none(now.getTime() - statSync(keys).birthtimeMs)]
  const age = now.getTime() - new Date(last.at).getTime()
  if (last.folder !== null && !existsSync(last.folder)) return [gone(last.folder)]
  return [
    ...(age > old ? [late(Math.floor(age / day), age > tooOld)] : []),
    ...(last.missing > 0 ? [incomplete(last.missing)] : []),
    ...(last.homes === false ? homesLate(last.homesAt, now) : []),
    ...(last.folder !== null && statSync(last.folder).dev === statSync(dataDir).dev ? [sameDisk(last.folder)] : []),
  ]
}

/** @param age of the installation, in ms */
const none = (age: number): Finding => ({
  level: age > tooOld ? 'critical' : age > day ? 'warning' : 'hint',
  what: 'No backup was made with berth backup: a broken disk loses accounts, keys and homes.',
  fix: nightly,
})

const gone = (folder: string): Finding => ({
  level: 'warning',
  what: `The last backup is not in ${folder} any more (or its disk is not mounted).`,
  fix: nightly,
})

const late = (days: number, isTooLate: boolean): Finding => ({
  level: isTooLate ? 'critical' : 'warning',
  what: `The last backup is ${days} days old.`,
  fix: `systemctl status berth-backup.timer; ${nightly}`,
})

const incomplete = (homes: number): Finding => ({
  level: 'warning',
  what: `The last backup lacks ${homes} homes that could not be read.`,
  fix: 'berth backup says which and why',
})

/** @param at when the last backup with homes was made; undefined when none is known */
function homesLate(at: string | undefined, now: Date): Finding[] {
  const fix = 'berth backup without --no-homes, unless snapshots of the file system save the homes'
  if (at === undefined)
    return [{ level: 'hint', what: 'The last backup is without homes, and none with them is known.', fix }]
  const age = now.getTime() - new Date(at).getTime()
  if (age <= old) return []
  return [{ level: 'warning', what: `The last backup with homes is ${Math.floor(age / day)} days old.`, fix }]
}

const sameDisk = (folder: string): Finding => ({
  level: 'hint',
  what: `The last backup is on the disk of the data (${folder}).`,
  fix: 'copy it to another machine, or: berth backup - --encrypt-to age1... | ssh backup@example.org "cat > berth.tar"',
})
