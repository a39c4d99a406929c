import type { Runtime } from '#/engines/runtime.ts'
import type { EngineListCache } from './engine-list.ts'
import type { HostCheck } from './host-check.ts'
import type { Task } from './reconciler.ts'

/** Prerequisites of containers in the engine: networks and host rules. Repeated, because an operator's clean-up may remove an unused network. */
export function prerequisitesTask(
  runtime: Pick<Runtime, 'prepare'>,
  check: Pick<HostCheck, 'check'>,
  engineList: Pick<EngineListCache, 'get'>,
): Task {
  return {
    name: 'prepared',
    async run() {
      // First, because a list of all containers also says how many are on each network. The tasks that need it report
      // its failure.
      await engineList.get().catch(() => undefined)
      await runtime.prepare()
      await check.check()
      return {}
    },
  }
}
