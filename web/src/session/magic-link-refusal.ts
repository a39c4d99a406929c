import { ApiError } from '@berth/api/client.ts'

/** Why a link was refused, as a key of `signIn.refused`. */
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
 * Maps an error of the verify endpoints to the refusal of the link; undefined when the error is not about the link, so
 * that a retry may help. A refusal whose name is missing or unknown is mapped by its status, so that each one offers a
 * new link.
 */
export function magicLinkRefusalIn(error: unknown): MagicLinkRefusal | undefined {
  if (!(error instanceof ApiError)) return undefined
  const { refusal = '', status } = error
  if (Object.hasOwn(byName, refusal)) return byName[refusal]
  if (status === 403) return 'unverified'
  return status === 400 ? 'invalid' : undefined
}
