import { readFileSync } from 'node:fs'

/** Memory of one process, in MB. */
export interface ProcessMemory {
  /** Resident: `own` and `files`, and what it shares without a file. */
  readonly resident: number
  /** The largest resident size since the process started. */
  readonly peak: number
  /** Pages that belong to this process alone. */
  readonly own: number
  /** Pages of files that it maps, such as the program itself; others may map the same ones. */
  readonly files: number
}

/** @throws when there is no such process, or Linux does not tell one of the figures */
export const memoryOf = (pid: number): ProcessMemory => memoryIn(readFileSync(`/proc/${pid}/status`, 'utf8'))

/** @param status the text of /proc/{pid}/status @throws when a figure is missing */
export function memoryIn(status: string): ProcessMemory {
  const megabytes = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
    if (kilobytes === undefined) throw new Error(`/proc/{pid}/status has no ${name}`)
    return Number(kilobytes) / 1024
  }
  return {
    resident: megabytes('VmRSS'),
    peak: megabytes('VmHWM'),
    own: megabytes('RssAnon'),
    files: megabytes('RssFile'),
  }
}

/**
 * Memory of processes of one program together, in MB, where the files that all of them map count once: what each has alone,
 * and the files of the one that maps most. `Pss` of the kernel is no such sum: it divides a page among all processes that map it,
 * and a bench and its stand-in, which run the same Node, would be charged a part of it.
 */
export function sharedOnce(processes: readonly ProcessMemory[]): number {
  return sum(processes.map(({ own }) => own)) + Math.max(0, ...processes.map(({ files }) => files))
}

/** The plain sum of resident sizes, in MB: files that several processes map count in each. */
export const plainSum = (processes: readonly ProcessMemory[]): number => sum(processes.map(({ resident }) => resident))

const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0)
