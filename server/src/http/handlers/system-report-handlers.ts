import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import type { Language } from '@berth/api/boot.ts'
import type { MailStatistics } from '#/accounts/mail/mail-statistics.ts'
import type { AdmissionControl, Capacity } from '#/containers/launch/admission-control.ts'
import type { DiskUse } from '#/homes/disk-use.ts'
import type { HostResources } from '#/containers/launch/host-resources.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Handlers } from './handler-types.ts'
import { requestedLanguage } from '#/http/localized-reply.ts'
import { contentLanguage } from '@berth/texts/language.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { localize } from '@berth/texts/localize.ts'
import type { HostReport } from '#/engines/runtime.ts'
import { roundPercentiles } from '@berth/gateway/basics/duration-histogram.ts'
import type { NodeStatus } from '#/store/node-records.ts'

export interface SystemReportParts {
  /** Structural types, because `http/` may not import `reconcile/`. */
  readonly reconciler: { report(): ReconcilerReport }
  readonly containerReconciler: { counts(): Readonly<Record<string, number>>; warnings(): readonly LocalizedMessage[] }
  readonly admission: Pick<AdmissionControl, 'counts'>
  readonly capacity: Pick<Capacity, 'running'>
  readonly hostResources: Pick<HostResources, 'report' | 'warnings'>
  readonly diskUse: Pick<DiskUse, 'warnings'>
  readonly mailStatistics: Pick<MailStatistics, 'report'>
  readonly routeSync: Pick<RouteSync, 'isEngineAnswering'>
  /** Of an installation with several nodes. */
  readonly nodes: { list(): Promise<NodeStatus[]> } | undefined
  /** Findings of the configuration, and those since the start. */
  readonly findings: () => readonly LocalizedMessage[]
  /** Max running containers of all users. */
  readonly maxRunning: number | null
}

interface ReconcilerReport {
  readonly lastRun: Date | null
  readonly lastSuccess: Date | null
  /** ms */
  readonly duration: number | null
  readonly isEngineAnswering: boolean
  readonly failures: readonly LocalizedMessage[]
}

export function systemReportHandlers(parts: SystemReportParts): Pick<Handlers, 'systemReport'> {
  return {
    systemReport: async ({ request, reply }) => {
      const language = requestedLanguage(request)
      void reply.headers(contentLanguage(language))
      return {
        reconciler: reconcilerPart(parts, language),
        launches: launchesPart(parts),
        containers: containersPart(parts),
        host: hostPart(parts.hostResources.report),
        mail: mailPart(parts),
        warnings: warningsOf(parts).map((warning) => localize(language, warning)),
        nodes: ((await parts.nodes?.list()) ?? []).map(nodePart),
      }
    },
  }
}

function warningsOf({ containerReconciler, hostResources, diskUse, findings }: SystemReportParts): LocalizedMessage[] {
  return [...containerReconciler.warnings(), ...hostResources.warnings(), ...diskUse.warnings(), ...findings()]
}

function reconcilerPart(
  { reconciler, containerReconciler, routeSync }: SystemReportParts,
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

function launchesPart({ admission }: SystemReportParts): SystemReport['launches'] {
  const { waiting, underWay, parallel } = admission.counts()
  return { waiting, under_way: underWay, parallel }
}

function containersPart({ capacity, hostResources, maxRunning }: SystemReportParts): SystemReport['containers'] {
  return { running: capacity.running, max: maxRunning, addresses_left: hostResources.report?.addressesLeft ?? null }
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

function mailPart({ mailStatistics }: SystemReportParts): SystemReport['mail'] {
  const { accepted, failed, used, secondsToUse, secondsToAccept, lastFailureAt, failures } = mailStatistics.report()
  return {
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
