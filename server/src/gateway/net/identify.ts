import { carriesToken, tokenValues } from './cookies.ts'
import type { Caller, People } from './people.ts'
import type { RequestFields } from './request-head.ts'

/**
 * Finds out who sends a request; made once per connection, because one client sends the same cookies again and again.
 * Apps have `Authorization` headers of their own, so one that is not a token of ours leaves it to the cookie; one that is
 * ours, but expired or revoked, does not.
 */
export class Identification {
  readonly #people: People
  #authorization: string | undefined
  #cookie: string | undefined
  #caller: Caller | undefined
  #isKnown = false

  constructor(people: People) {
    this.#people = people
  }

  /** The caller, undefined without a good token, or `'unseen'` when a signature has to be checked first: see `verify`. */
  seen({ authorization, cookie }: RequestFields): Caller | undefined | 'unseen' {
    if (authorization === undefined && !carriesToken(cookie)) return undefined
    if (!this.#isKnown || authorization !== this.#authorization || cookie !== this.#cookie) return 'unseen'
    return this.#caller && this.#people.isGood(this.#caller) ? this.#caller : undefined
  }

  /** Checks signatures and remembers the outcome for `seen`. */
  async verify({ authorization, cookie }: RequestFields): Promise<Caller | undefined> {
    const caller = await this.#theOneGood(this.#candidates(authorization, cookie))
    this.#authorization = authorization
    this.#cookie = cookie
    // Not when there was none: a token that is not good now may be once its person is told.
    this.#isKnown = caller !== undefined
    this.#caller = caller
    return caller
  }

  #candidates(authorization: string | undefined, cookie: string | undefined): readonly string[] {
    const bearer = bearerToken(authorization)
    return bearer !== undefined && this.#people.isOurs(bearer) ? [bearer] : tokenValues(cookie)
  }

  /**
   * With several different cookies of our name somebody tossed some in: only a single good one is believed. All of them
   * are looked at, however many: junk cookies with longer paths, which browsers send first, must not push the real one out.
   */
  async #theOneGood(tokens: readonly string[]): Promise<Caller | undefined> {
    const good: Caller[] = []
    for (const token of new Set(tokens)) {
      const caller = await this.#people.verify(token)
      if (caller && this.#people.isGood(caller)) good.push(caller)
    }
    return good.length === 1 ? good[0] : undefined
  }
}

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}
