import type { UnverifiedAccounts } from '#/accounts/sign-up/unverified-accounts.ts'
import type { Task } from '../reconciler.ts'

/** Deletes accounts that nobody verified in time. */
export const unverifiedTask = (unverified: UnverifiedAccounts): Task => ({
  name: 'unverified',
  run: async (now) => ({ forgotten: await unverified.deleteExpired(now) }),
})
