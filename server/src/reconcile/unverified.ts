import type { Unverified } from '#/accounts/unverified.ts'
import type { Task } from './reconciler.ts'

/** Deletes accounts that nobody verified in time. */
export const unverifiedTask = (unverified: Unverified): Task => ({
  name: 'unverified',
  run: async (now) => ({ forgotten: await unverified.forget(now) }),
})
