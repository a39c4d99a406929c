import type { Db } from '#/store/database.ts'
import { countOthersInCharge, hasUsers } from '#/store/users/users.ts'
import type { SignUpPolicy } from './sign-up-policy.ts'

/** No account has this id. */
const nobody = 0

/**
 * What an operator has to know when nobody can administer this installation: the first address was mistyped, say, or
 * nobody may sign up. @returns a sentence with the way out; null when somebody is in charge, or will be
 */
export async function missingAdministrator(db: Db, policy: SignUpPolicy): Promise<string | null> {
  if (await hasUsers(db)) {
    if ((await countOthersInCharge(db, nobody)) > 0) return null
    return 'No administrator has verified their address. `berth users promote <email>` makes one of somebody who has.'
  }
  const mayNobodySignUp = policy.signUp === 'invited' && policy.adminEmails.size === 0
  return mayNobodySignUp ? 'Nobody may sign up. `berth users invite <email>` invites the first administrator.' : null
}
