import type { SignInProblemCode } from '@berth/api/sign-in-problems.ts'

/** A refused sign-in by a provider, with a reason that the login page explains. Expected; not a bug. */
export class SignInProblem extends Error {
  readonly code: SignInProblemCode

  /** @param why for the log: no token, code or claim value may stand in it */
  constructor(code: SignInProblemCode, why: string, cause?: unknown) {
    super(why, { cause })
    this.name = 'SignInProblem'
    this.code = code
  }
}
