import type Type from 'typebox'
import type { Language } from '@berth/api/boot.ts'
import type { HistorySample, SystemReport } from '@berth/api/schemas/administration/admin.ts'
import type { AuditEntry, AuditQuery } from '@berth/api/schemas/administration/audit.ts'
import type { UsageRow } from '@berth/api/schemas/administration/usage.ts'
import { roundPercentiles } from '@berth/gateway/basics/duration-histogram.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { Admin } from '#/admin/open-admin.ts'
import type { Containers, LoadSample } from '#/containers/open-containers.ts'
import type { HostReport } from '#/engines/runtime.ts'
import { localizedReply, requestedLanguage } from '#/http/localized-reply.ts'
import { packageVersion } from '#/machine/package-version.ts'
import { refusals } from '#/refusals/errors.ts'
import type { AuditFilter, StoredAuditEntry } from '#/store/audit-log.ts'
import type { NodeStatus } from '#/store/node-records.ts'
import type { ContainerRef } from '#/store/user-containers.ts'
import type { AuditVerification } from '#/store/verify-audit-log.ts'
import type { Usage, UsageReportRow } from '#/usage/open-usage.ts'
import { savedBy, type IdleMinutes } from '#/usage/usage-recorder.ts'
import { actorOf, disconnectSignal, readLimit, type Handlers, type HandlersParts } from './call.ts'

/** The installation, use, templates and the audit log, for administrators. */
export const adminSystemHandlers = (parts: HandlersParts) => ({
  ...systemReportHandlers(parts),
  ...systemHistoryHandlers(parts.containers),
  ...usageHandlers(parts.usage),
  ...templateHandlers(parts.admin),
  ...auditHandlers(parts.admin),
})

const version = packageVersion()

function systemReportHandlers(parts: HandlersParts) {
  return {
    systemReport: async ({ request, reply }) => {
      const language = requestedLanguage(request)
      void reply.headers(contentLanguage(language))
      return {
        version,
        reconciler: reconcilerPart(parts, language),
        launches: launchesPart(parts),
        containers: containersPart(parts),
        gpus: gpusPart(parts),
        host: hostPart(parts.containers.hostResources.report),
        images: imagesPart(parts),
        mail: mailPart(parts),
        warnings: warningsOf(parts).map((warning) => localize(language, warning)),
        nodes: ((await parts.nodes?.list()) ?? []).map(nodePart),
      }
    },
  } satisfies Partial<Handlers>
}

function warningsOf({ containers, homes, findings }: HandlersParts): LocalizedMessage[] {
  const { containerReconciler, hostResources, layers } = containers
  const { diskUse } = homes
  return [
    ...containerReconciler.warnings(),
    ...hostResources.warnings(),
    ...diskUse.warnings(),
    ...layers.warnings(),
    ...findings(),
  ]
}

function reconcilerPart(
  { containers: { reconciler, containerReconciler, routeSync } }: HandlersParts,
  language: Language,
): SystemReport['reconciler'] {
  const { lastRun, lastSuccess, duration, isEngineAnswering, failures } = reconciler.report()
  return {
    last_success: lastSuccess?.toISOString() ?? null,
    last_run: lastRun?.toISOString() ?? null,
    duration_ms: duration === null ? null : Math.round(duration),
    is_engine_answering: isEngineAnswering && routeSync.isEngineAnswering,
    actions: { ...containerReconciler.counts() },
    failures: failures.map((failure) => localize(language, failure)),
  }
}

function launchesPart({ containers }: HandlersParts): SystemReport['launches'] {
  const { waiting, underWay, parallel } = containers.admission.counts()
  return { waiting, under_way: underWay, parallel }
}

function containersPart({ config, containers }: HandlersParts): SystemReport['containers'] {
  const { capacity, hostResources } = containers
  const left = hostResources.report?.addressesLeft ?? null
  return { running: capacity.running, max: config.maxRunning, addresses_left: left }
}

function gpusPart({ containers: { admission, routeSync } }: HandlersParts): SystemReport['gpus'] {
  const report = admission.gpuReport()
  if (!report) return null
  const { total, taken, waiting, containers } = report
  const emailOf = (owned: ContainerRef) => {
    const known = routeSync.get(owned)
    return known && routeSync.gatewayUserOf(known)?.email
  }
  const having = containers.map(({ owned, ids }) => ({
    user_id: owned.userId,
    // What is being launched for the first time has no record there yet.
    email: emailOf(owned) ?? null,
    container_type: owned.type,
    ids: [...ids],
  }))
  return { total, in_use: taken, waiting, containers: having }
}

function hostPart(report: HostReport | undefined): SystemReport['host'] {
  const { memory, disk, rules } = report ?? {}
  return {
    memory: memory ? { total: memory.total, left: memory.available } : null,
    disk: disk ? { total: disk.total, left: disk.free } : null,
    rules: rulesWord(rules),
    rules_are: report?.rulesAre ?? null,
  }
}

function imagesPart({ environments: { images } }: HandlersParts): SystemReport['images'] {
  if (!images) return null
  const pulled = images.pulled.map(({ image, bytes, isNeeded, goesAt }) => ({
    image,
    bytes,
    is_needed: isNeeded,
    goes_at: goesAt?.toISOString() ?? null,
  }))
  return { environments: { ...images.environments }, pulled }
}

function nodePart(node: NodeStatus): SystemReport['nodes'][number] {
  return {
    address: node.address,
    version: node.version,
    started_at: node.startedAt.toISOString(),
    seen_at: node.seenAt.toISOString(),
    is_alive: node.isAlive,
    is_current: node.isCurrent,
    leads_since: node.leadsSince?.toISOString() ?? null,
  }
}

function mailPart({ config, accounts: { mailStatistics } }: HandlersParts): SystemReport['mail'] {
  const { accepted, failed, used, secondsToUse, secondsToAccept, lastFailureAt, failures } = mailStatistics.report()
  return {
    ...(config.smtpUrl === null && { is_outbox: true as const }),
    accepted,
    failed,
    used,
    seconds_to_use: roundPercentiles(secondsToUse),
    seconds_to_accept: roundPercentiles(secondsToAccept),
    last_failure_at: lastFailureAt?.toISOString() ?? null,
    failures: failures.map(({ at, ...failure }) => ({ ...failure, at: at.toISOString() })),
  }
}

/** @param rules undefined before the first report; null before the first trial of them */
function rulesWord(rules: HostReport['rules'] | undefined): string {
  if (!rules) return 'not known'
  return rules.areSet ? 'set' : `not set: ${rules.reason}`
}

function systemHistoryHandlers({ history }: Containers) {
  // Includes the present moment: otherwise a new launch would be missing for a minute.
  return {
    systemHistory: ({ now }) => ({ samples: [...history.samples(), history.current(now)].map(toSample) }),
  } satisfies Partial<Handlers>
}

const toSample = (sample: LoadSample): HistorySample => ({
  at: sample.at.toISOString(),
  running: sample.running,
  waiting: sample.waiting,
  launched: sample.launched,
  failed: sample.failed,
  memory_left: sample.memoryLeft,
  disk_left: sample.diskLeft,
  ready_seconds: roundPercentiles(sample.readySeconds),
})

function usageHandlers({ report, isRecorded, isMeasured }: Usage) {
  return {
    usage: async ({ query, now }) => {
      const { unit = 'day', by = 'period', from, until, type, group, user, sort = 'running', limit, cursor } = query
      const page = await report.read(
        {
          unit,
          by,
          from,
          until,
          type,
          groupId: numberOf(group),
          user,
          limit: readLimit(limit, 100),
          sort,
          after: Number(cursor ?? 0),
        },
        now,
      )
      return {
        is_recorded: isRecorded,
        is_measured: isMeasured,
        kept: { days: report.settings.keepDays, months: report.settings.keepMonths },
        subject: page.subject,
        time_zone: report.settings.timeZone,
        from: page.from,
        until: page.until,
        rows: page.rows.map(toUsageRow),
        next_cursor: page.next === null ? null : String(page.next),
      }
    },
  } satisfies Partial<Handlers>
}

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text))

/** Three digits are seconds. */
const hours = (seconds: number) => Math.round((seconds / 3_600) * 1_000) / 1_000

function toUsageRow({ key, name, sums }: UsageReportRow): UsageRow {
  const saved = (minutes: IdleMinutes) => hours(savedBy(minutes, sums))
  return {
    key: String(key),
    name,
    running_hours: hours(sums.running_s),
    paused_hours: hours(sums.paused_s),
    used_hours: hours(sums.used_s),
    core_hours: hours(sums.core_s),
    memory_gib_hours: hours(sums.memory_mib_s / 1_024),
    measured_hours: hours(sums.measured_s),
    cpu_hours: hours(sums.cpu_used_ms / 1_000),
    memory_used_gib_hours: hours(sums.memory_used_mib_s / 1_024),
    home_gib_hours: hours(sums.home_mib_s / 1_024),
    gpu_hours: hours(sums.gpu_s),
    idle_stop_would_save: {
      '5': saved(5),
      '15': saved(15),
      '30': saved(30),
      '60': saved(60),
      '120': saved(120),
      '240': saved(240),
    },
  }
}

/** Templates, for administrators. */
function templateHandlers({ templates }: Admin) {
  return {
    listTemplates: async () => ({
      templates: (await templates.list()).map(({ type, version, image, environmentMissing, older }) => ({
        type,
        version,
        image: {
          reference: image.reference,
          id: image.id,
          digest: image.digest,
          pulled_at: image.pulledAt?.toISOString() ?? null,
        },
        ...(environmentMissing !== undefined && { environment_missing: environmentMissing }),
        older: older.map(({ userId, email, containerId, mayLaunch }) => ({
          user_id: userId,
          email,
          container_id: containerId,
          ...(!mayLaunch && { may_not_launch: true as const }),
        })),
        asked: older.filter(({ isAsked }) => isAsked).length,
      })),
    }),
    updateContainersOf: async (call) => {
      const { mode } = call.body
      const { count, left } = await templates.update(actorOf(call), call.params.container_type, mode, call.now)
      return { message: localizedReply(call, message('answers.containersUpdated', { count, left, mode })) }
    },
    reloadTemplates: async (call) => {
      const types = await templates.reload(actorOf(call), call.now)
      return { message: localizedReply(call, message('answers.templatesReloaded', { count: types.length })) }
    },
  } satisfies Partial<Handlers>
}

/** Entries in one answer without `limit`. */
const defaultPageSize = 100

export function auditHandlers({ audit }: Pick<Admin, 'audit'>) {
  return {
    listAudit: async ({ query }) => {
      const limit = readLimit(query.limit, defaultPageSize)
      const before = query.cursor === undefined ? undefined : Number(query.cursor)
      const { entries, next } = await audit.list(filterOf(query), limit, before)
      return {
        entries: entries.map(toAuditEntry),
        next_cursor: next === null ? null : String(next),
        ...(query.names === 'true' && { names: await audit.addressesIn(entries) }),
      }
    },
    verifyAudit: async ({ query, reply }) => {
      const { entries, hash, firstBroken } = await audit.verify(expectedHeadOf(query), disconnectSignal(reply))
      return { entries, head: hash, first_broken: firstBroken }
    },
  } satisfies Partial<Handlers>
}

/** @throws {Refusal} 400 for an instant that does not exist */
function filterOf({ actor, action, target, since, until }: Type.Static<typeof AuditQuery>): AuditFilter {
  const isId = /^\d{1,15}$/.test(actor ?? '')
  return {
    ...(actor !== undefined && (isId ? { actorId: Number(actor) } : { actorEmail: actor })),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
  }
}

/** @throws {Refusal} 400 for `entries` without `head`, or `head` without `entries` */
function expectedHeadOf({ entries, head }: { entries?: string; head?: string }): Pick<AuditVerification, 'kept'> {
  if (entries === undefined && head === undefined) return {}
  if (entries === undefined || head === undefined) throw refusals.badRequest(message('requests.incompleteHead'))
  return { kept: { entries: Number(entries), hash: head } }
}

const toAuditEntry = ({ at, ...entry }: StoredAuditEntry): AuditEntry => ({ ...entry, at: at.toISOString() })
