import { ApiError } from '@berth/api/client.ts'

/** Why a link let nobody in, as the page says it (`signIn.refused`). */
export type MagicLinkRefusal = 'expired' | 'used' | 'otherKind' | 'invalid' | 'incomplete' | 'unverified' | 'blocked'

/** By the names of the server's refusals, `docs/reference/errors.md`. */
const byName: Readonly<Record<string, MagicLinkRefusal>> = {
  expiredToken: 'expired',
  usedToken: 'used',
  otherToken: 'otherKind',
  badToken: 'invalid',
  missingToken: 'incomplete',
  notVerified: 'unverified',
  userBlocked: 'blocked',
}

/**
 * What an error of the verify endpoints says of the link; undefined when it says nothing of it, so that trying again may
 * help. A refusal whose name is missing or new is told by its status, so that nobody is left without a way out.
 */
export function magicLinkRefusalIn(error: unknown): MagicLinkRefusal | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { refusal = '', status } = error
  if (Object.hasOwn(byName, refusal)) return byName[refusal]
  if (status === 403) return 'unverified'
  return status === 400 ? 'invalid' : undefined
}
