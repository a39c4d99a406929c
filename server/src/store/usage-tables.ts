import type { Generated } from 'kysely'

/** Sums of use in a period; see `usage-recorder.ts`. In seconds, and MiB times seconds. */
export interface UsageSumsTable {
  id: Generated<number>
  unit: 'day' | 'month'
  /** `YYYY-MM-DD` or `YYYY-MM`, in the time zone of the installation. */
  period: string
  kind: 'user' | 'group' | 'all'
  /** Id of the user or group; 0 for all. No foreign key: groups keep their sums, users are deleted with theirs. */
  subject_id: number
  container_type: string
  /** Running or paused. */
  running_s: number
  paused_s: number
  /** Bytes moved. */
  used_s: number
  /** Cores that templates allow, times running time without pauses. */
  core_s: number
  /** Memory that templates allow, times running time with pauses. */
  memory_mib_s: number
  /** Running without a byte for 5 to 15 minutes, and so on. */
  idle_5_s: number
  idle_15_s: number
  idle_30_s: number
  idle_60_s: number
  idle_120_s: number
  idle_240_s: number
  /** Time for which CPU time and memory were measured. */
  measured_s: number
  /** CPU time in ms: idle programs take milliseconds between two measurements. */
  cpu_used_ms: number
  memory_used_mib_s: number
  /** Sizes of homes, whether or not their containers run. */
  home_mib_s: number
}
