import type { HistorySample } from '@berth/api/admin.ts'
import type { LoadHistory, LoadSample } from '#/containers/load-history.ts'
import type { Handlers } from '#/http/handlers.ts'
import { rounded } from '#/spread.ts'

export interface SystemHistoryParts {
  readonly history: Pick<LoadHistory, 'samples' | 'current'>
}

export function systemHistoryHandlers({ history }: SystemHistoryParts): Pick<Handlers, 'systemHistory'> {
  // With the moment itself: who has just launched something would read for a minute that nothing was.
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
  ready_seconds: rounded(sample.readySeconds),
})
