import type { KeyObject } from 'node:crypto'
import type { TokenKeys } from '#/accounts/sessions/access-token.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'

/** The signing keys as they were read last. They verify here, and sign nothing. */
export class ReaderKeys implements TokenKeys {
  /** A rotation changes neither. */
  readonly csrfKey: KeyObject
  readonly visitKey: KeyObject
  #keys: SigningKeys

  constructor(keys: SigningKeys) {
    this.#keys = keys
    this.csrfKey = keys.hmacKeyFor('csrf')
    this.visitKey = keys.hmacKeyFor('visit')
  }

  replace(keys: SigningKeys): void {
    this.#keys = keys
  }

  get jwks(): SigningKeys['jwks'] {
    return this.#keys.jwks
  }

  accepted(kid: string | undefined): ReturnType<SigningKeys['accepted']> {
    return this.#keys.accepted(kid)
  }

  get kid(): never {
    throw new Error('the leader signs tokens')
  }

  get privateKey(): never {
    throw new Error('the leader signs tokens')
  }
}
