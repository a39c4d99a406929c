import { cpuTime } from '../gateway/usage.ts'
import { memoryOf, plainSum, sharedOnce } from '../process-memory.ts'
import type { Both, Fleetside, LoopDelay } from './program.ts'

/** What both processes used over a time. */
export interface Usage {
  readonly seconds: number
  /** Share of one core. */
  readonly cores: Both<number>
  /** Resident at the end, in MB. */
  readonly resident: Both<number>
  /** The largest resident size of each since it started, its start included, in MB. */
  readonly peak: Both<number>
  /** Both together at the end, what they share counted once (`sharedOnce`), in MB. */
  readonly inAll: number
  /** The sum of `resident`: what they share is counted twice. */
  readonly plain: number
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
    const memory = { gateway: memoryOf(gateway), api: memoryOf(api) }
    const both = Object.values(memory)
    return {
      seconds: microseconds / 1e6,
      cores: {
        gateway: (after.gateway - before.gateway) / microseconds,
        api: (after.api - before.api) / microseconds,
      },
      resident: { gateway: memory.gateway.resident, api: memory.api.resident },
      peak: { gateway: memory.gateway.peak, api: memory.api.peak },
      inAll: sharedOnce(both),
      plain: plainSum(both),
      delay: {
        gateway: await berth.probe<LoopDelay>('gateway', 'end'),
        api: await berth.probe<LoopDelay>('api', 'end'),
      },
    }
  }
}

/** The API process is the gateway's child, and is counted by itself. */
const ownCpu = (gateway: number, api: number) => cpuTime(gateway) - cpuTime(api)
