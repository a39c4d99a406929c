import { createHash, randomBytes } from 'node:crypto'

/** Token of a new magic link (passwordless sign-in): 256 random bits of entropy, in letters that an address may have. */
export const newToken = () => randomBytes(32).toString('base64url')

/**
 * Begins the token of a link that is given to an administrator instead of mailed: its use proves nothing about the address.
 * The token says so itself, because the store has its hash alone.
 */
const unmailedPrefix = 'unmailed_'

/** Token of a link that is not mailed; as random as others. */
export const newUnmailedToken = () => unmailedPrefix + newToken()

/** Whether the link of this token was not mailed. */
export const isUnmailed = (token: string) => token.startsWith(unmailedPrefix)

/** Tokens are stored and looked up as hashes alone, so that a look-up takes the same time for all. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
