import type { Runtime } from '#/runtime/runtime.ts'
import type { HostCheck } from './host-check.ts'
import type { Task } from './reconciler.ts'

/** The engine has what containers need. Repeated, because an operator's clean-up may take an unused network away. */
export function preparedTask(runtime: Pick<Runtime, 'prepare'>, check: Pick<HostCheck, 'look'>): Task {
  return {
    name: 'prepared',
    async run() {
      await runtime.prepare()
      await check.look()
      return {}
    },
  }
}
