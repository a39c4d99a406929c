import { createHash, randomBytes } from 'node:crypto'

/** Token of a new magic link (passwordless sign-in): 256 random bits of entropy, in letters that an address may have. */
export const newToken = () => randomBytes(32).toString('base64url')

/** Tokens are stored and looked up as hashes alone, so that a look-up takes the same time for all. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
