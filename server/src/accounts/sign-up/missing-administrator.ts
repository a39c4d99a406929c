import type { Db } from '#/store/database.ts'
import { countOthersInCharge, hasUsers } from '#/store/users.ts'
import type { SignUpPolicy } from './sign-up-policy.ts'

/** No account has this id. */
const unusedId = 0

/**
 * Finds an installation without an administrator, and without a way to one: the configured address was mistyped, say,
 * or sign-up is closed. @returns a sentence with the way out; null when there is an administrator, or a way
 */
export async function missingAdministrator(db: Db, policy: SignUpPolicy): Promise<string | null> {
  if (await hasUsers(db)) {
    if ((await countOthersInCharge(db, unusedId)) > 0) return null
    return 'No administrator has verified their address. `berth users promote <email>` promotes a verified user.'
  }
  const isSignUpImpossible = policy.signUp === 'invited' && policy.adminEmails.size === 0
  return isSignUpImpossible ? 'Sign-up is closed. `berth users invite <email>` invites the first administrator.' : null
}
