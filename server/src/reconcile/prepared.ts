import type { Runtime } from '#/runtime/runtime.ts'
import type { EngineLooks } from './engine-look.ts'
import type { HostCheck } from './host-check.ts'
import type { Task } from './reconciler.ts'

/** The engine has what containers need. Repeated, because an operator's clean-up may take an unused network away. */
export function preparedTask(
  runtime: Pick<Runtime, 'prepare'>,
  check: Pick<HostCheck, 'look'>,
  looks: Pick<EngineLooks, 'look'>,
): Task {
  return {
    name: 'prepared',
    async run() {
      // First, because a list of all containers also says how many are on each network. Its failure is told by who needs it.
      await looks.look().catch(() => undefined)
      await runtime.prepare()
      await check.look()
      return {}
    },
  }
}
