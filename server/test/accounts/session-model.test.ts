// Part of npm run test:more: walks through what specification/sessions states step by step.
// Needs a process of its own: it moves the clock.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { array, assert as check, asyncProperty, constantFrom, nat, record, type Arbitrary } from 'fast-check'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { assertOk } from '#test/support/api-calls.ts'
import type { Reply } from '#test/support/berth.ts'
import { startEnginelessBerth, tokenIn, type EnginelessBerth } from '#test/support/berth-without-engine.ts'
import { movableClock } from '#test/support/clock.ts'
import { extent } from '#test/support/extent.ts'
import { FakeGateway } from '#test/support/gateway/fake-gateway.ts'

/** Sessions in an order that no person thought of, compared with the rules in a few lines: none lives after its end, none ends before. */
const [tokenLifetime, idle, max, takeoverLifetime] = [3_600_000, 1_209_600_000, 7_776_000_000, 900_000]
/** A step this close to the end of something is left out, in ms: the walk itself takes time. */
const margin = 120_000
const enough = extent(800, 50_000)
const people = ['boss@x.org', 'ann@x.org', 'bob@x.org'] as const
/** No sum of them is a duration of the rules. */
const pauses = [613_000, 2_011_000, 36_007_000, 432_011_000, 1_300_021_000] as const

/** A browser with the session that was begun in it. */
interface Browser {
  readonly email: string
  readonly createdAt: number
  lastUsed: number
  /** Of the latest token. */
  tokenEnds: number
  token: string
  cookie: string
  /** All that it ever had. */
  readonly cookies: string[]
  state: 'live' | 'blocked' | 'over' | 'deleted'
}

const verbs = [
  'sign in', 'refresh', 'refresh', 'refresh', 'two tabs', 'lose the answer', 'use', 'use', 'use', 'replay', 'log out',
  'end others', 'block', 'unblock', 'delete', 'take over', 'sleep', 'sleep', 'sleep', 'restart',
] as const // prettier-ignore
interface Step {
  readonly verb: (typeof verbs)[number]
  readonly who: number
  readonly pause: number
  readonly chance: number
}
const step: Arbitrary<Step> = record({
  verb: constantFrom(...verbs),
  who: nat({ max: 50 }),
  pause: constantFrom(...pauses),
  chance: nat({ max: 19 }),
})

const clock = movableClock({ after })
const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-sessions-'))
after(() => rm(dataDir, { recursive: true, force: true }))
const env = { MAGIC_LINK_RATE_LIMIT: '100000', LOG_LEVEL: 'error', ADMIN_EMAILS: people[0] }
const start = () => startEnginelessBerth({ after }, { gateway: new FakeGateway(), env, dataDir })
let berth: EnginelessBerth = await start()
const walked = { steps: 0 }
const met = new Map<string, number>()

test('sessions last as the rules say, in whatever order they are used, ended and renewed', async () => {
  for (let round = 0; walked.steps < enough; round++)
    await check(asyncProperty(array(step, { minLength: 200, maxLength: 400, size: 'max' }), walk), {
      seed: 20_261_122 + round,
      numRuns: 1,
      endOnFailure: true,
    })
})

test('the walks met every rule', (t) => {
  t.diagnostic(`${walked.steps} steps: ${JSON.stringify(Object.fromEntries([...met].toSorted()))}`)
  assert.ok(walked.steps >= enough)
  for (const verb of ['refresh', 'use'])
    for (const status of [200, 401]) assert.ok((met.get(`${verb} ${status}`) ?? 0) > 20, `${verb} ${status}`)
  for (const rule of ['replay 401', 'two tabs 200', 'lose the answer 200', 'take over 200', 'restart 200'])
    assert.ok((met.get(rule) ?? 0) > 0, rule)
})

async function walk(all: readonly Step[]): Promise<void> {
  for (const table of ['users', 'used_slugs', 'link_requests', 'revoked_tokens'] as const)
    await berth.database.db.deleteFrom(table).execute()
  const browsers: Browser[] = [await signIn(people[0])]
  for (const each of all) {
    await take(each, browsers)
    walked.steps++
  }
}

const endOf = ({ createdAt, lastUsed }: Browser) => Math.min(lastUsed + idle, createdAt + max)
const isLive = (browser: Browser) => browser.state === 'live' && Date.now() < endOf(browser)
const isTokenGood = (browser: Browser) => ['live', 'blocked'].includes(browser.state) && Date.now() < browser.tokenEnds
const isClose = (browser: Browser) =>
  [endOf(browser), browser.tokenEnds, browser.tokenEnds - tokenLifetime / 2].some(
    (at) => Math.abs(at - Date.now()) < margin,
  )

async function take({ verb, who, pause, chance }: Step, browsers: Browser[]): Promise<void> {
  const browser = browsers[who % browsers.length]
  const email = people[who % people.length] ?? people[0]
  if (verb === 'sleep') return clock.pass(pause)
  if (verb === 'sign in') {
    // The oldest are mostly over, and would be most of what is met.
    if (browsers.length >= 6) browsers.shift()
    return void browsers.push(await signIn(email))
  }
  if (verb === 'restart') return chance === 0 ? restart() : undefined
  if (['block', 'unblock', 'delete', 'take over'].includes(verb))
    return chance < 8 ? administer(verb, email, browsers) : undefined
  if (!browser || isClose(browser)) return
  if (verb === 'replay') return chance < 5 ? replay(browser) : undefined
  if (verb === 'log out' || verb === 'end others')
    return chance < 5 && browser.state !== 'deleted' ? end(verb, browser, browsers) : undefined
  // Their tokens are answered with 404: `tokens.test.ts`.
  if (verb === 'use') return browser.state === 'deleted' ? undefined : use(browser)
  const wasLive = isLive(browser)
  const replies = await Promise.all(Array.from({ length: verb === 'two tabs' ? 2 : 1 }, () => refresh(browser.cookie)))
  for (const reply of replies) answered(verb, reply, wasLive ? 200 : 401)
  if (!wasLive) return
  assert.equal(new Set(replies.map(cookieIn)).size, 1, 'two tabs got different cookies')
  const [reply] = replies
  if (reply) gain(browser, reply, verb !== 'lose the answer')
}

function gain(browser: Browser, reply: Reply, isReceived: boolean): void {
  browser.lastUsed = Date.now()
  // A token that was lost with the answer is nowhere.
  if (!isReceived) return
  browser.token = reply.body.access_token
  browser.tokenEnds = Date.now() + reply.body.expires_in * 1_000
  browser.cookie = cookieIn(reply)
  if (browser.cookies.at(-1) !== browser.cookie) browser.cookies.push(browser.cookie)
}

async function use(browser: Browser): Promise<void> {
  const isGood = isTokenGood(browser)
  const wasLive = isLive(browser)
  const isDue = Date.now() > browser.tokenEnds - tokenLifetime / 2
  const reply = await berth.call('GET', '/api/user/sessions', { headers: { cookie: `spawner_token=${browser.token}` } })
  answered('use', reply, isGood ? 200 : 401)
  const renewed = tokenCookieIn(reply)
  if (isGood && wasLive) browser.lastUsed = Date.now()
  if (!isGood || !wasLive) return assert.equal(renewed, undefined, 'a session that is over was renewed')
  if (isDue && browser.tokenEnds - Date.now() < endOf(browser)) assert.ok(renewed, 'nothing was renewed')
  if (renewed === undefined) return
  const { exp } = JSON.parse(Buffer.from(renewed.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }
  browser.token = renewed
  browser.tokenEnds = exp * 1_000
}

async function replay(browser: Browser): Promise<void> {
  const old = browser.cookies.at(-4)
  if (old === undefined) return
  answered('replay', await refresh(old), 401)
  if (isLive(browser)) browser.state = 'over'
}

async function end(verb: 'log out' | 'end others', browser: Browser, browsers: Browser[]): Promise<void> {
  const isGood = isTokenGood(browser)
  const target = verb === 'log out' ? '/api/auth/logout' : '/api/user/sessions/end-others'
  answered(verb, await berth.call('POST', target, { token: browser.token }), isGood ? 200 : 401)
  if (!isGood) return
  if (verb === 'log out') browser.state = 'over'
  else if (isLive(browser)) browser.lastUsed = Date.now()
  if (verb === 'end others')
    for (const each of browsers) if (each !== browser && each.email === browser.email) each.state = 'over'
}

/** By an administrator who has just signed in, and whose session ends with it. */
async function administer(verb: string, email: string, browsers: Browser[]): Promise<void> {
  if (email === people[0]) return
  const user = await berth.database.db.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst()
  if (!user) return
  const { token } = await signIn(people[0])
  const [method, path] = verb === 'delete' ? ['DELETE', ''] : ['POST', verb === 'take over' ? '/takeover' : `/${verb}`]
  const body = verb === 'take over' ? { body: { reason: 'to look' } } : {}
  const reply = await berth.call(method, `/api/admin/users/${user.id}${path}`, { token, ...body })
  answered(verb, reply, 200)
  const theirs = browsers.filter((each) => each.email === email)
  if (verb === 'block') for (const each of theirs) if (isLive(each)) each.state = 'blocked'
  if (verb === 'delete') for (const each of theirs) each.state = 'deleted'
  if (verb !== 'take over') return
  const acting = reply.body.access_token as string
  assertOk(await berth.call('GET', '/api/user/me', { token: acting }))
  clock.pass(takeoverLifetime + 5_000)
  assert.equal((await berth.call('GET', '/api/user/me', { token: acting })).status, 401, 'a takeover outlived its time')
}

/** With the next signing key. */
async function restart(): Promise<void> {
  await berth.close()
  const keys = await loadSigningKeys(dataDir)
  const nothing = async () => undefined
  await keys.dropExpired(new Date())
  if (keys.retired.length < 5)
    await keys.rotate(new Date(Date.now() + tokenLifetime + 60_000), { onPlanned: nothing, onAccepted: nothing })
  berth = await start()
  met.set('restart 200', (met.get('restart 200') ?? 0) + 1)
}

async function signIn(email: string): Promise<Browser> {
  await berth.database.db.updateTable('users').set({ is_blocked: 0 }).where('email', '=', email).execute()
  assertOk(await berth.call('POST', '/api/auth/link', { body: { email } }))
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const kind = mail.text.includes('verify-signup') ? 'verify-signup' : 'verify-login'
  const reply = await berth.call('GET', `/api/auth/${kind}?token=${tokenIn(mail)}`)
  assertOk(reply)
  const now = Date.now()
  const cookie = cookieIn(reply)
  const times = { createdAt: now, lastUsed: now, tokenEnds: now + tokenLifetime }
  return { email, ...times, token: reply.body.access_token, cookie, cookies: [cookie], state: 'live' }
}

const refresh = (cookie: string) =>
  berth.call('POST', '/api/auth/refresh', { headers: { cookie: `berth_session=${cookie}` } })

function answered(verb: string, reply: Reply, status: number): void {
  assert.equal(reply.status, status, `${verb}: ${reply.text}`)
  met.set(`${verb} ${status}`, (met.get(`${verb} ${status}`) ?? 0) + 1)
}

const valueIn = (reply: Reply, name: string) =>
  reply.headers
    .getSetCookie()
    .map((line) => new RegExp(`^${name}=([^;]+)`).exec(line)?.[1])
    .find((value) => value !== undefined)
const cookieIn = (reply: Reply) => valueIn(reply, 'berth_session') ?? ''
const tokenCookieIn = (reply: Reply) => valueIn(reply, 'spawner_token')
