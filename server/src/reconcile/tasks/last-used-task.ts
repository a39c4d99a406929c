import type { Activity } from '#/containers/idle/activity.ts'
import type { Task } from '../reconciler.ts'

/** `last_used` in the store follows what the gateway tells of traffic. */
export function lastUsedTask(activity: Activity): Task {
  return {
    name: 'last used',
    async run() {
      await activity.writeDue()
      return {}
    },
  }
}
