import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import type { Addresses, Config } from '@berth/server/config/config.ts'
import { needRestart, type SettingName } from '@berth/server/config/settings.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { ClusterInspection, EngineInspection } from '@berth/server/engines/engine-inspection.ts'

/** `critical`: users or data are at risk now. `warning`: it will hurt. `hint`: good to know. In this order. */
export const levels = ['critical', 'warning', 'hint'] as const
export type Level = (typeof levels)[number]

/** What a check found. */
export interface Finding {
  readonly level: Level
  /** One sentence: what is so, and what it leads to. */
  readonly what: string
  /** Command that mends it, or what to set. */
  readonly fix: string
}

/** What checks look at. */
export interface CheckContext {
  readonly config: Config
  readonly addresses: Addresses
  readonly warnings: readonly LocalizedMessage[]
  /** Lines of `berth.env` without an effect. */
  readonly notes: readonly string[]
  /** System report of the running service; null when none runs; the words of its failure when it does not answer. */
  readonly service: SystemReport | null | string
  /** What the running service tells SSH clients of its host keys, as lines of `known_hosts`; empty without one. */
  readonly sshHostKeys: readonly string[]
  readonly engine: EngineInspection
  /** Null with `ENGINE=docker`; otherwise `engine` has its clock alone. */
  readonly cluster: ClusterInspection | null
  /** Name servers to ask; null for those of the machine. */
  readonly nameServers: readonly string[] | null
  /** Folder of the kernel's settings and process information: `/proc`. */
  readonly proc: string
  readonly now: Date
}

/** One thing that is looked at. It changes nothing. */
export interface Check {
  /** Of one or two words, as the report names it. */
  readonly name: string
  /**
   * @param signal aborted at the time limit and by Ctrl-C
   * @returns what was found; nothing when all is well
   * @throws when it cannot be checked; the message says why
   */
  readonly run: (context: CheckContext, signal: AbortSignal) => Promise<readonly Finding[]>
}

/** Commands that change a setting. @param assignment `NAME=value` */
export function settingFix(assignment: `${SettingName}=${string}`): string {
  const [name = ''] = assignment.split('=')
  const word = /^[\w=:/.@-]*$/.test(assignment) ? assignment : `'${assignment}'`
  return `berth init --yes --set ${word} && systemctl ${needRestart.includes(name) ? 'restart' : 'reload'} berth`
}
