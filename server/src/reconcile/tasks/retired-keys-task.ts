import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Task } from '../reconciler.ts'

/** Accepts keys no more that were replaced, once their last tokens have expired. @param tell tells the gateway which are accepted */
export function retiredKeysTask(keys: Pick<SigningKeys, 'dropExpired'>, tell: () => Promise<void>): Task {
  return {
    name: 'retired keys',
    async run(now) {
      const dropped = await keys.dropExpired(now)
      if (dropped > 0) await tell()
      return { dropped }
    },
  }
}
