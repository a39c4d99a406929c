import type { HistorySample } from '@berth/api/schemas/administration/admin.ts'
import type { LoadTimeSeries, LoadSample } from '#/containers/launch/load-metrics.ts'
import type { Handlers } from './handler-types.ts'
import { roundPercentiles } from '@berth/gateway/basics/duration-histogram.ts'

export interface SystemHistoryParts {
  readonly history: Pick<LoadTimeSeries, 'samples' | 'current'>
}

export function systemHistoryHandlers({ history }: SystemHistoryParts): Pick<Handlers, 'systemHistory'> {
  // Includes the present moment: otherwise a new launch would be missing for a minute.
  return { systemHistory: ({ now }) => ({ samples: [...history.samples(), history.current(now)].map(toSample) }) }
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
