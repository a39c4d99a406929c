import { usageColumns, type UsageColumn, type UsageSums } from '#/store/usage-sums.ts'

/** Since how many minutes a container is idle, from which on its time is summed up apart: what an idle stop would save. */
export const idleMinutes = [5, 15, 30, 60, 120, 240] as const

export type IdleMinutes = (typeof idleMinutes)[number]

export const noUsage: UsageSums = Object.fromEntries(usageColumns.map((name) => [name, 0])) as Record<
  UsageColumn,
  number
>

export function addSums(one: UsageSums, other: UsageSums): UsageSums {
  return Object.fromEntries(usageColumns.map((name) => [name, one[name] + other[name]])) as Record<UsageColumn, number>
}

/** One container at one moment. */
export interface Sample {
  /** Time that it stands for, in seconds. */
  readonly seconds: number
  readonly isPaused: boolean
  /** Whether a byte moved in this time. */
  readonly isUsed: boolean
  /** Time since the last byte, in seconds. */
  readonly idleFor: number
  /** Limits of the template: cores, and bytes of memory. */
  readonly cores: number
  readonly memory: number
}

/** Unit of memory and of homes in sums of use, in bytes. */
export const mebibyte = 1_048_576

/** What a sample adds: a paused container holds its memory, and no processor. */
export function sumsOf({ seconds, isPaused, isUsed, idleFor, cores, memory }: Sample): UsageSums {
  const bucket = isPaused || isUsed ? undefined : idleMinutes.findLast((minutes) => idleFor >= minutes * 60)
  return {
    ...noUsage,
    running_s: seconds,
    paused_s: isPaused ? seconds : 0,
    used_s: isUsed && !isPaused ? seconds : 0,
    core_s: isPaused ? 0 : Math.round(cores * seconds),
    memory_mib_s: Math.round((memory / mebibyte) * seconds),
    ...(bucket === undefined ? {} : { [`idle_${bucket}_s`]: seconds }),
  }
}

/** Seconds that a stop after so many idle minutes would have saved: all time for which a container was idle for longer. */
export function savedBy(minutes: IdleMinutes, sums: UsageSums): number {
  return idleMinutes.filter((each) => each >= minutes).reduce((all, each) => all + sums[`idle_${each}_s`], 0)
}
