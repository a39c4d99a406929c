import { readFileSync } from 'node:fs'
import { cpuTime } from '../gateway/usage.ts'
import type { Both, Fleetside, LoopDelay } from './program.ts'

/** What both processes used over a time. */
export interface Usage {
  readonly seconds: number
  /** Share of one core. */
  readonly cores: Both<number>
  /** Resident at the end, in MB. */
  readonly resident: Both<number>
  /** Both together, what they share counted once, in MB. */
  readonly inAll: number
  readonly delay: Both<LoopDelay>
}

/** Begins to measure. @returns what ends it */
export async function measureUsage(berth: Fleetside): Promise<() => Promise<Usage>> {
  const { gateway, api } = berth.pids()
  const cpu = () => ({ gateway: ownCpu(gateway, api), api: cpuTime(api) })
  await Promise.all([berth.probe('gateway', 'begin'), berth.probe('api', 'begin')])
  const [began, before] = [performance.now(), cpu()]
  return async () => {
    const [microseconds, after] = [(performance.now() - began) * 1_000, cpu()]
    return {
      seconds: microseconds / 1e6,
      cores: {
        gateway: (after.gateway - before.gateway) / microseconds,
        api: (after.api - before.api) / microseconds,
      },
      resident: { gateway: residentOf(gateway), api: residentOf(api) },
      inAll: proportionalOf(gateway) + proportionalOf(api),
      delay: {
        gateway: await berth.probe<LoopDelay>('gateway', 'end'),
        api: await berth.probe<LoopDelay>('api', 'end'),
      },
    }
  }
}

/** The API process is the gateway's child, and is counted by itself. */
const ownCpu = (gateway: number, api: number) => cpuTime(gateway) - cpuTime(api)

const residentOf = (pid: number) => kilobytes(pid, 'Rss') / 1024
/** Of a page that n processes share, an n-th. */
const proportionalOf = (pid: number) => kilobytes(pid, 'Pss') / 1024

function kilobytes(pid: number, name: string): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1])
}
