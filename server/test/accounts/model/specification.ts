/**
 * The rules of accounts as the specification has them, in a few lines and in memory: what each request is answered, and
 * what is so afterwards. Written from the specification alone; it shares nothing with the server, so that a mistake there
 * is not made here as well.
 */

/** Seconds, as configured by default. */
const [linkLifetime, tokenLifetime, takeoverLifetime] = [900, 3600, 900]
/** Seconds that a session lasts without a request; no walk is as long as it may last in all. */
const sessionIdle = 1_209_600
const hour = 3_600_000
const linksPerHour = 3

export type Purpose = 'signup' | 'login'
export type Verb = 'block' | 'unblock' | 'delete' | 'promote' | 'demote' | 'takeover' | 'resend-verification'

export interface Account {
  readonly email: string
  /** Learned when it is needed: the specification does not say which. */
  id: number
  state: 'registered' | 'verified'
  isAdmin: boolean
  isBlocked: boolean
  hasSignedIn: boolean
}

export interface Link {
  readonly token: string
  readonly account: Account
  readonly purpose: Purpose
  expiresAt: number
  isUsed: boolean
}

export interface Token {
  readonly token: string
  readonly account: Account
  /** The administrator who acts for the account, when it is not the owner. */
  readonly acting: Account | undefined
  expiresAt: number
  isRevoked: boolean
  /** Of its session, which is no other token's here: nothing is renewed. */
  sessionEndsAt: number
}

/** One line of the audit log. */
export interface Line {
  readonly actor: string
  readonly action: string
  readonly target: string
}

/** What follows a request: the status, and the purpose of the link that is mailed. */
export interface Outcome {
  readonly status: number
  readonly mails?: Purpose
}

export class Specification {
  readonly accounts = new Map<string, Account>()
  /** How far the clock was set back and not forward again, in ms, and when: by the clock after it. */
  readonly #debt = { owed: 0, since: 0 }
  readonly links: Link[] = []
  readonly tokens: Token[] = []
  readonly audit: Line[] = []
  /** Whether mails are accepted. */
  mailWorks = true
  /** When links were mailed, by address. */
  #mailed: { readonly email: string; at: number }[] = []

  // --- Asking for links

  signUp(typed: string, now: number): Outcome {
    const email = typed.trim().toLowerCase()
    if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email)) return { status: 400 }
    const account = this.accounts.get(email)
    if (account) return this.#mailTo(account, 'login', now)
    const created: Account = {
      email,
      id: 0,
      state: 'registered',
      isAdmin: this.accounts.size === 0,
      isBlocked: false,
      hasSignedIn: false,
    }
    const outcome = this.#mailTo(created, 'signup', now)
    if (outcome.status === 200) this.accounts.set(email, created)
    return outcome
  }

  logIn(typed: string, now: number): Outcome {
    const email = typed.trim().toLowerCase()
    if (email === '') return { status: 400 }
    const account = this.accounts.get(email)
    return account ? this.#mailTo(account, 'login', now) : { status: 200 }
  }

  /** Always the same answer: who is not registered, or not any more, gets no mail. */
  resend(typed: string, now: number): Outcome {
    const account = this.accounts.get(typed.trim().toLowerCase())
    if (account?.state !== 'registered') return { status: 200 }
    const { mails } = this.#mailTo(account, 'signup', now)
    return mails ? { status: 200, mails } : { status: 200 }
  }

  /** How many links the address may still ask for within this hour. */
  left(email: string, now: number): number {
    return linksPerHour - this.#mailed.filter((mail) => mail.email === email && mail.at > now - hour).length
  }

  #mailTo(account: Account, purpose: Purpose, now: number): Outcome {
    if (account.isBlocked) return { status: 403 }
    if (this.left(account.email, now) <= 0) return { status: 429 }
    if (!this.mailWorks) return { status: 500 }
    this.#mailed.push({ email: account.email, at: now })
    return { status: 200, mails: purpose }
  }

  /** The mail came. */
  receive(token: string, email: string, purpose: Purpose, now: number): void {
    const account = this.accounts.get(email)
    if (account) this.links.push({ token, account, purpose, expiresAt: now + linkLifetime * 1000, isUsed: false })
  }

  // --- Using them

  verify(link: Link | undefined, at: Purpose, now: number): Outcome {
    if (!link || link.purpose !== at || !this.isLive(link, now)) return { status: 400 }
    const { account } = link
    if (account.isBlocked) return { status: 403 }
    if (at === 'login' && account.state === 'registered') return { status: 403 }
    link.isUsed = true
    if (account.state === 'registered') account.state = 'verified'
    if (at === 'login') account.hasSignedIn = true
    return { status: 200 }
  }

  /** The answer carried this token. @returns the seconds that it is good for */
  hold(token: string, account: Account, now: number, acting?: Account): number {
    const lifetime = acting ? takeoverLifetime : tokenLifetime
    const expiresAt = now + lifetime * 1000
    const sessionEndsAt = acting ? expiresAt : now + sessionIdle * 1000
    this.tokens.push({ token, account, acting, expiresAt, sessionEndsAt, isRevoked: false })
    return lifetime
  }

  isLive(link: Link, now: number): boolean {
    return !link.isUsed && now < link.expiresAt && this.#exists(link.account)
  }

  // --- With a token

  /** me, containers, status. */
  look(token: Token | undefined, now: number): Outcome {
    return this.#asUser(token, now) ?? { status: 200 }
  }

  /** Without an engine nothing can be started. */
  launch(token: Token | undefined, type: string, now: number): Outcome {
    const refused = this.#asUser(token, now)
    if (refused) return refused
    if (!['dev', 'prod'].includes(type)) return { status: 400 }
    return token?.account.isBlocked ? { status: 403 } : { status: 500 }
  }

  /** A deleted user may sign out, too. */
  logOut(token: Token | undefined, now: number): Outcome {
    if (!token || !this.#isGood(token, now)) return { status: 401 }
    token.isRevoked = true
    if (token.acting) this.#writeEndOfTakeover(token.acting.email, token.account)
    return { status: 200 }
  }

  /** Not by who acts for the owner. @returns how many were ended */
  endOthers(token: Token | undefined, now: number): Outcome & { readonly ended?: number } {
    const refused = this.#asUser(token, now)
    if (refused) return token?.acting && refused.status === 404 ? { status: 403 } : refused
    if (token?.acting) return { status: 403 }
    const others = this.tokens.filter(
      (each) => each !== token && each.account === token?.account && !each.isRevoked && now < each.sessionEndsAt,
    )
    for (const each of others) {
      each.isRevoked = true
      if (each.acting) this.#writeEndOfTakeover(each.account.email, each.account)
    }
    return { status: 200, ended: others.length }
  }

  /** A takeover that ends before its time leaves a line, by the one who ended it: the administrator or the owner. */
  #writeEndOfTakeover(actor: string, owner: Account): void {
    this.audit.push({ actor, action: 'user.end-takeover', target: `user:${owner.id}` })
  }

  listUsers(token: Token | undefined, now: number): Outcome {
    return this.#asAdministrator(token, now) ?? { status: 200 }
  }

  administer(token: Token | undefined, verb: Verb, target: Account | undefined, now: number): Outcome {
    const refused = this.#asAdministrator(token, now)
    if (refused) return refused
    if (!target || !this.#exists(target)) return { status: 404 }
    if (target === token?.account && ['block', 'delete', 'demote', 'takeover'].includes(verb)) return { status: 409 }
    const write = (action: string) =>
      this.audit.push({ actor: token?.account.email ?? '', action, target: `user:${target.id}` })
    if (verb === 'resend-verification') {
      if (target.state !== 'registered' || target.isBlocked) return { status: 409 }
      const outcome = this.#mailTo(target, 'signup', now)
      if (outcome.status !== 429) write('user.resend-verification')
      if (outcome.status === 500) write('user.resend-verification-failed')
      return outcome
    }
    if (verb === 'takeover' || this.#change(target, verb)) write(`user.${verb}`)
    return { status: 200 }
  }

  /** @returns whether anything is different now */
  #change(target: Account, verb: Verb): boolean {
    // Acting for a user takes an administrator.
    if (verb === 'block' || verb === 'demote' || verb === 'delete')
      for (const token of this.tokens) if (token.acting === target) token.isRevoked = true
    if (verb === 'block')
      for (const token of this.tokens) if (token.acting && token.account === target) token.isRevoked = true
    if (verb === 'delete') return this.accounts.delete(target.email)
    // A block ends the session and leaves the token: there is nothing to end once that has expired.
    if (verb === 'block')
      for (const token of this.tokens)
        if (token.account === target && !token.acting) token.sessionEndsAt = token.expiresAt
    const before = { ...target }
    if (verb === 'block' || verb === 'unblock') target.isBlocked = verb === 'block'
    else target.isAdmin = verb === 'promote'
    return before.isBlocked !== target.isBlocked || before.isAdmin !== target.isAdmin
  }

  #asUser(token: Token | undefined, now: number): Outcome | undefined {
    if (!token || !this.#isGood(token, now)) return { status: 401 }
    return this.#exists(token.account) ? undefined : { status: 404 }
  }

  #asAdministrator(token: Token | undefined, now: number): Outcome | undefined {
    if (!token || !this.#isGood(token, now)) return { status: 401 }
    const { account, acting } = token
    return !acting && this.#exists(account) && account.isAdmin && !account.isBlocked ? undefined : { status: 403 }
  }

  #isGood(token: Token, now: number): boolean {
    return !token.isRevoked && now < token.expiresAt
  }

  /** A user who signed up again with the address of a deleted account is another user. */
  #exists(account: Account): boolean {
    return this.accounts.get(account.email) === account
  }

  // --- The clock is set, which is not the same as time that passes: docs/explanation/decisions/021

  /**
   * An hour stays an hour, and nothing that had expired works again. A jump forward gives links back what jumps back of the last
   * hour have taken. @param by ms @param before as it was
   */
  clockWasSet(by: number, before: number): void {
    for (const mail of this.#mailed) mail.at += by
    if (before - this.#debt.since > hour) this.#debt.owed = 0
    const paid = Math.min(by, this.#debt.owed)
    this.#debt.owed -= paid
    this.#debt.since = by < 0 ? before + by : this.#debt.since + paid
    for (const link of this.links) {
      if (paid !== 0 && !this.isLive(link, before)) link.isUsed = true
      link.expiresAt += paid
    }
    if (by < 0) for (const token of this.tokens) token.isRevoked = true
  }
}
