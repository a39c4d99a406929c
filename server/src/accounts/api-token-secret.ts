import { hash, randomBytes } from 'node:crypto'
import { secretPrefix } from '@berth/gateway/tokens/opaque-secrets.ts'

/** A new API token: 256 random bits, so that no number of attempts finds one. */
export const newApiToken = () => secretPrefix + randomBytes(32).toString('base64url')

/**
 * SHA-256 in hex: all that is stored of a token. A slow hash protects passwords, which people choose; it adds nothing to
 * 256 random bits (NIST SP 800-63B-4, 3.1.2.2). The lookup compares hashes by an index, so its time says nothing of tokens.
 */
export const apiTokenHash = (token: string) => hash('sha256', token, 'hex')
