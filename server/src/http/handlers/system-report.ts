import type { SystemReport } from '@berth/api/admin.ts'
import type { Language } from '@berth/api/boot.ts'
import type { Deliveries } from '#/accounts/deliveries.ts'
import type { Admission } from '#/containers/admission.ts'
import type { DiskUse } from '#/containers/disk-use.ts'
import type { HostGuard } from '#/containers/host-guard.ts'
import type { Occupancy } from '#/containers/occupancy.ts'
import type { Places } from '#/containers/places.ts'
import type { Handlers } from '#/http/handlers.ts'
import { requestedLanguage } from '#/http/requested-language.ts'
import { contentLanguage } from '#/language.ts'
import { message, type Message } from '#/messages/message.ts'
import { say } from '#/messages/say.ts'
import type { HostReport } from '#/runtime/runtime.ts'
import { rounded } from '#/spread.ts'

export interface SystemReportParts {
  /** By their shape, because the reconciler stands beside HTTP. */
  readonly reconciler: { report(): ReconcilerReport }
  readonly upkeep: { counts(): Readonly<Record<string, number>>; warnings(): readonly Message[] }
  readonly admission: Pick<Admission, 'counts'>
  readonly occupancy: Pick<Occupancy, 'running'>
  readonly guard: Pick<HostGuard, 'report' | 'warnings'>
  readonly diskUse: Pick<DiskUse, 'warnings'>
  readonly deliveries: Pick<Deliveries, 'report'>
  readonly places: Pick<Places, 'isEngineAnswering'>
  /** What the settings, and what was seen since, switch off. */
  readonly findings: () => readonly Message[]
  /** The cap of containers that run, of everybody together. */
  readonly mostRunning: number | null
}

interface ReconcilerReport {
  readonly lastRun: Date | null
  readonly lastSuccess: Date | null
  /** ms */
  readonly duration: number | null
  readonly isEngineAnswering: boolean
  readonly failures: readonly Message[]
}

export function systemReportHandlers(parts: SystemReportParts): Pick<Handlers, 'systemReport'> {
  return {
    systemReport: ({ request, reply }) => {
      const language = requestedLanguage(request)
      void reply.headers(contentLanguage(language))
      return {
        reconciler: reconcilerPart(parts, language),
        launches: launchesPart(parts),
        containers: containersPart(parts),
        host: hostPart(parts.guard.report),
        mail: mailPart(parts),
        warnings: warningsOf(parts).map((warning) => say(language, warning)),
      }
    },
  }
}

function warningsOf({ upkeep, guard, diskUse, findings }: SystemReportParts): Message[] {
  const ofRules = rulesWarning(guard.report)
  return [...upkeep.warnings(), ...guard.warnings(), ...diskUse.warnings(), ...ofRules, ...findings()]
}

function reconcilerPart(
  { reconciler, upkeep, places }: SystemReportParts,
  language: Language,
): SystemReport['reconciler'] {
  const { lastRun, lastSuccess, duration, isEngineAnswering, failures } = reconciler.report()
  return {
    last_success: lastSuccess?.toISOString() ?? null,
    last_run: lastRun?.toISOString() ?? null,
    duration_ms: duration === null ? null : Math.round(duration),
    is_engine_answering: isEngineAnswering && places.isEngineAnswering,
    actions: { ...upkeep.counts() },
    failures: failures.map((failure) => say(language, failure)),
  }
}

function launchesPart({ admission }: SystemReportParts): SystemReport['launches'] {
  const { waiting, underWay, parallel } = admission.counts()
  return { waiting, under_way: underWay, parallel }
}

function containersPart({ occupancy, guard, mostRunning }: SystemReportParts): SystemReport['containers'] {
  return { running: occupancy.running, most: mostRunning, addresses_left: guard.report?.addressesLeft ?? null }
}

function hostPart(report: HostReport | undefined): SystemReport['host'] {
  const { memory, disk, rules } = report ?? {}
  return {
    memory: memory ? { total: memory.total, left: memory.available } : null,
    disk: disk ? { total: disk.total, left: disk.free } : null,
    rules: rules ? (rules.areSet ? 'set' : `not set: ${rules.reason}`) : 'not known',
  }
}

function mailPart({ deliveries }: SystemReportParts): SystemReport['mail'] {
  const { accepted, failed, used, secondsToUse, secondsToAccept, lastFailureAt, failures } = deliveries.report()
  return {
    accepted,
    failed,
    used,
    seconds_to_use: rounded(secondsToUse),
    seconds_to_accept: rounded(secondsToAccept),
    last_failure_at: lastFailureAt?.toISOString() ?? null,
    failures: failures.map(({ at, ...failure }) => ({ ...failure, at: at.toISOString() })),
  }
}

function rulesWarning(report: HostReport | undefined): Message[] {
  if (!report || report.rules.areSet) return []
  return [message('warnings.noRules', { reason: report.rules.reason })]
}
