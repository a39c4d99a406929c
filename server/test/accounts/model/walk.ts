import assert from 'node:assert/strict'
import { tokenIn } from '../../support/berth-without-engine.ts'
import type { CallOptions, Reply } from '../../support/berth.ts'
import type { Email } from '#/accounts/mail/mailer.ts'
import { Specification, type Account, type Link, type Outcome, type Purpose, type Token } from './specification.ts'
import { badAddresses, people, spell, type Holder, type Step } from './steps.ts'
import { type World, unit, paths, nth, withToken, purposeIn, answered } from './walk-support.ts'

/** Takes steps in a Berth and in the specification at once, and compares what they answer. */
export class Walk {
  readonly spec = new Specification()
  readonly #world: World
  #doing: Step['do'] = 'mail'
  /** What signing up was answered, which must not tell who is known. */
  #signUpText: string | undefined
  #logInText: string | undefined

  constructor(world: World) {
    this.#world = world
    world.mailFault.active = false
  }

  /** @throws {AssertionError} when Berth does not do as the specification says */
  async take(step: Step): Promise<void> {
    this.#doing = step.do
    switch (step.do) {
      case 'sign up':
        return this.#signUp(spell(step.who, step.spelling))
      case 'log in':
        return this.#logIn(spell(step.who, step.spelling))
      case 'ask badly':
        return this.#askBadly(step.at, badAddresses[step.what])
      case 'resend':
        return this.#resend(spell(step.who, step.spelling))
      case 'come in':
        return this.#comeIn(people[step.who] ?? '')
      case 'verify':
        return this.#verifyAs(step)
      case 'look':
        return this.#look(this.#tokenOf(step), step.at)
      case 'launch':
        return this.#launch(this.#tokenOf(step), step.type)
      case 'log out':
        return this.#logOut(this.#tokenOf(step))
      case 'end others':
        return this.#endOthers(this.#tokenOf(step))
      case 'administer':
        return this.#administer(this.#tokenOf(step), step)
      case 'all sign up at once':
        return this.#rush()
      case 'ask five times at once':
        return this.#burst(people[step.who] ?? '')
      case 'time passes':
        return this.#world.clock.pass(step.units * unit)
      case 'the clock is set':
        return this.#setClock(step.units * unit)
      case 'mail':
        this.spec.mailWorks = step.works
        this.#world.mailFault.active = !step.works
    }
  }

  // --- Asking for links

  async #signUp(typed: string): Promise<void> {
    const expected = this.spec.signUp(typed, Date.now())
    const reply = await this.#asks('signup', typed, expected)
    if (reply.status !== 200) return
    assert.equal(reply.text, (this.#signUpText ??= reply.text), 'the answer tells whether the address was known')
  }

  async #logIn(typed: string): Promise<void> {
    const expected = this.spec.logIn(typed, Date.now())
    const reply = await this.#asks('login', typed, expected)
    if (reply.status !== 200) return
    assert.equal(reply.text, (this.#logInText ??= reply.text), 'the answer tells whether the address is known')
  }

  async #resend(typed: string): Promise<void> {
    await this.#asks('resend-verification', typed, this.spec.resend(typed, Date.now()))
  }

  async #askBadly(at: Purpose, body: unknown): Promise<void> {
    const { email } = Object(body) as { email?: unknown }
    const isKnownToBeBad = typeof email !== 'string'
    const expected = isKnownToBeBad
      ? { status: 400 }
      : at === 'signup'
        ? this.spec.signUp(email, Date.now())
        : this.spec.logIn(email, Date.now())
    answered(await this.#post(`/api/auth/${at}`, body), expected)
    assert.equal(this.#arrived().length, 0, 'a mail was sent')
  }

  async #asks(endpoint: string, typed: string, expected: Outcome): Promise<Reply> {
    const reply = await this.#post(`/api/auth/${endpoint}`, { email: typed })
    answered(reply, expected)
    this.#receive(typed, expected)
    return reply
  }

  /** The mail, if there is one, goes to the address as it is stored, and leads to the page of its purpose. */
  #receive(typed: string, { mails }: Outcome): void {
    const arrived = this.#arrived()
    assert.deepEqual(
      arrived.map(({ to, text }) => [to, purposeIn(text)]),
      mails ? [[typed.trim().toLowerCase(), mails]] : [],
    )
    for (const mail of arrived) this.spec.receive(tokenIn(mail), mail.to, purposeIn(mail.text), Date.now())
  }

  /** In whatever way leads to a token just now. */
  async #comeIn(email: string): Promise<void> {
    const isVerified = this.spec.accounts.get(email)?.state === 'verified'
    const before = this.spec.links.length
    await (isVerified ? this.#logIn(email) : this.spec.accounts.has(email) ? this.#resend(email) : this.#signUp(email))
    const link = this.spec.links[before]
    if (link) await this.#verify(link, link.purpose, 'once')
  }

  // --- At once

  async #rush(): Promise<void> {
    const wasEmpty = this.spec.accounts.size === 0
    const expected = new Map(people.map((email) => [email, this.spec.signUp(email, Date.now())]))
    await Promise.all(
      people.map(async (email) => {
        const reply = await this.#post('/api/auth/signup', { email })
        answered(reply, expected.get(email) ?? { status: 0 })
      }),
    )
    for (const mail of this.#arrived()) {
      assert.equal(purposeIn(mail.text), expected.get(mail.to)?.mails)
      this.spec.receive(tokenIn(mail), mail.to, purposeIn(mail.text), Date.now())
    }
    if (!wasEmpty) return
    // The first user in the store has to be one.
    const first = await this.#administrators()
    assert.ok(first.length === Math.min(1, this.spec.accounts.size), `${first.length} administrators without a cause`)
    for (const account of this.spec.accounts.values()) account.isAdmin = first.includes(account.email)
  }

  async #burst(email: string): Promise<void> {
    const now = Date.now()
    const account = this.spec.accounts.get(email)
    const wanted = Array.from({ length: 5 }, () => this.spec.logIn(email, now).status)
    const statuses = await Promise.all(wanted.map(async () => (await this.#post('/api/auth/login', { email })).status))
    assert.deepEqual(statuses.toSorted(), wanted.toSorted())
    const arrived = this.#arrived()
    assert.equal(arrived.length, account ? wanted.filter((status) => status === 200).length : 0)
    for (const mail of arrived) this.spec.receive(tokenIn(mail), mail.to, 'login', now)
  }

  async #administrators(): Promise<string[]> {
    const rows = await this.#world.berth.database.db
      .selectFrom('users')
      .select('email')
      .where('is_admin', '=', 1)
      .execute()
    return rows.map(({ email }) => email)
  }

  // --- Using links

  async #verifyAs(step: Extract<Step, { do: 'verify' }>): Promise<void> {
    const link = this.#link(step)
    const [right, wrong]: Purpose[] = link?.purpose === 'login' ? ['login', 'signup'] : ['signup', 'login']
    await this.#verify(link, (step.at === 'right' ? right : wrong) ?? 'signup', step.how)
  }

  async #verify(link: Link | undefined, at: Purpose, how: 'once' | 'twice' | 'head' | 'prefetch'): Promise<void> {
    const path = `/api/auth/verify-${at}?token=${link?.token ?? 'of-nobody'}`
    if (how === 'head') return answered(await this.#call('HEAD', path), { status: 405 })
    if (how === 'prefetch') {
      const headers = { 'sec-purpose': 'prefetch;anonymous-client-ip' }
      return answered(await this.#call('GET', path, { headers }), { status: 400 })
    }
    const [now, times] = [Date.now(), how === 'twice' ? 2 : 1]
    const wanted = Array.from({ length: times }, () => this.spec.verify(link, at, now).status)
    const replies = await Promise.all(wanted.map(() => this.#call('GET', path)))
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted(),
      wanted.toSorted(),
      replies.map(({ text }) => text).join('\n'),
    )
    for (const reply of replies) {
      if (reply.status === 200 && link) this.#signedIn(reply, link.account, now)
      else answered(reply, { status: reply.status })
    }
  }

  #signedIn(reply: Reply, account: Account, now: number, acting?: Account): void {
    const { access_token: token, token_type, expires_in, user } = reply.body
    const { email, isAdmin, state } = account
    account.id = user.id
    assert.deepEqual(
      { email: user.email, is_admin: user.is_admin, state: user.state, container_id: user.container_id },
      { email, is_admin: isAdmin, state, container_id: null },
    )
    assert.equal(token_type, 'Bearer')
    assert.equal(expires_in, this.spec.hold(token, account, now, acting))
    const cookies = reply.headers.getSetCookie().filter((cookie) => cookie.startsWith(`spawner_token=${token};`))
    assert.equal(cookies.length > 0, acting === undefined, 'a cookie signs in the user of the link only')
  }

  // --- With a token

  async #look(token: Token | undefined, at: 'me' | 'containers' | 'status' | 'users'): Promise<void> {
    const now = Date.now()
    const expected = at === 'users' ? this.spec.listUsers(token, now) : this.spec.look(token, now)
    const reply = await this.#call('GET', paths[at], withToken(token))
    answered(reply, expected)
    if (reply.status !== 200 || !token) return
    const { email, isAdmin, state, hasSignedIn } = token.account
    if (at === 'me') {
      const { user } = reply.body
      assert.deepEqual(
        [user.email, user.is_admin, user.state, user.last_used !== null],
        [email, isAdmin, state, hasSignedIn],
      )
    }
    if (at === 'containers')
      assert.deepEqual(
        reply.body.containers.map(({ type }: { type: string }) => type),
        ['dev', 'prod'],
      )
    if (at === 'status') assert.deepEqual(reply.body, { container_id: null, status: 'no_container' })
    if (at === 'users')
      assert.deepEqual(
        reply.body.users
          .map((user: Record<string, unknown>) => [user.email, user.state, user.is_admin, user.is_blocked])
          .toSorted(),
        [...this.spec.accounts.values()]
          .map((each) => [each.email, each.state, each.isAdmin, each.isBlocked])
          .toSorted(),
      )
  }

  async #launch(token: Token | undefined, type: string): Promise<void> {
    const expected = this.spec.launch(token, type, Date.now())
    const reply = await this.#call('POST', `/api/container/launch/${type}`, withToken(token))
    assert.equal(reply.status, expected.status, reply.text)
    assert.equal(typeof reply.body.error, 'string')
    if (expected.status === 403) assert.ok('blocked_at' in reply.body)
  }

  async #logOut(token: Token | undefined): Promise<void> {
    const expected = this.spec.logOut(token, Date.now())
    answered(await this.#call('POST', '/api/auth/logout', withToken(token)), expected)
  }

  async #administer(token: Token | undefined, { verb, whom }: Extract<Step, { do: 'administer' }>): Promise<void> {
    const target = this.spec.accounts.get(people[whom] ?? '')
    if (target) target.id = await this.#idOf(target.email)
    const expected = this.spec.administer(token, verb, target, Date.now())
    const [method, action] = verb === 'delete' ? ['DELETE', ''] : ['POST', `/${verb}`]
    const path = `/api/admin/users/${target?.id ?? 999_999_999}${action}`
    const body = verb === 'takeover' ? { body: { reason: 'to see for myself' } } : {}
    const now = Date.now()
    const reply = await this.#call(method, path, { ...withToken(token), ...body })
    answered(reply, expected)
    this.#receive(target?.email ?? '', expected)
    if (reply.status !== 200 || !target) return
    if (verb === 'takeover') return this.#signedIn(reply, target, now, token?.account)
    if (verb === 'delete' || verb === 'resend-verification') return
    assert.deepEqual([reply.body.user.is_blocked, reply.body.user.is_admin], [target.isBlocked, target.isAdmin])
  }

  async #endOthers(token: Token | undefined): Promise<void> {
    const expected = this.spec.endOthers(token, Date.now())
    const reply = await this.#call('POST', '/api/user/sessions/end-others', withToken(token))
    answered(reply, expected)
    if (reply.status === 200) assert.equal(reply.body.ended, expected.ended)
  }

  // --- Time

  async #setClock(by: number): Promise<void> {
    const before = Date.now()
    this.#world.clock.set(by)
    this.spec.clockWasSet(by, before)
    // Whatever is asked next waits until everything follows the clock; so does the comparison of the stores.
    await this.#call('GET', '/api/.well-known/jwks.json')
  }

  #link({ among, link }: Extract<Step, { do: 'verify' }>): Link | undefined {
    const { links } = this.spec
    return nth(among === 'all' ? links : links.filter((each) => this.spec.isLive(each, Date.now())), link)
  }

  #tokenOf({ among, token }: Holder): Token | undefined {
    const { tokens } = this.spec
    if (among === 'all') return nth(tokens, token)
    const those = (status: number) => tokens.filter((each) => this.spec.look(each, Date.now()).status === status)
    if (among === 'deleted') return nth(those(404), token)
    const good = those(200)
    return nth(among === 'good' ? good : good.filter(({ account }) => account.isAdmin), token)
  }

  async #idOf(email: string): Promise<number> {
    const { db } = this.#world.berth.database
    return (await db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirstOrThrow()).id
  }

  #arrived(): Email[] {
    return this.#world.berth.mails.splice(0)
  }

  #post(path: string, body: unknown): Promise<Reply> {
    return this.#call('POST', path, { body })
  }

  async #call(method: string, path: string, options?: CallOptions): Promise<Reply> {
    const { answers, berth } = this.#world
    const reply = await berth.call(method, path, options)
    const answer = `${this.#doing} ${reply.status}`
    answers.set(answer, (answers.get(answer) ?? 0) + 1)
    return reply
  }
}
