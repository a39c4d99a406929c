import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '#/refusals/errors.ts'
import { ConcurrencyLimit, RateLimiter, maxAtOnce } from './rate-limiter.ts'

const school = '198.51.100.7'

function limited(perMinute: number) {
  let time = 0
  const limit = new RateLimiter(perMinute, () => time)
  return {
    limit,
    pass: (ms: number) => (time += ms),
    /** Counts like the server for a request that names a mailbox. */
    ask: (address: string, mailbox: string, device?: string) => {
      limit.count({ address, device }, 'mail')
      limit.countMailbox({ address, device }, mailbox)
    },
    /** Refunds like the server for a link that signs its owner in. */
    signIn: (address: string, mailbox: string, device?: string) => {
      limit.refund({ address, device }, mailbox)
    },
  }
}

// 300 requests a minute were 150 people: a school behind one address could not begin its day.
test('300 people behind one address sign in within a minute, each after a mistake', () => {
  const { ask, signIn } = limited(600)
  for (let n = 0; n < 300; n++) ask(school, `person${n}@x.org`)
  for (let n = 0; n < 300; n++) ask(school, `person${n}@x.org`)
  assert.throws(() => ask(school, 'late@x.org'), { status: 429 })
  for (let n = 0; n < 300; n++) signIn(school, `person${n}@x.org`)
  ask(school, 'late@x.org')
})

test('who signs in leaves as much for the others as if they had asked for nothing', () => {
  const { ask, signIn } = limited(10)
  for (let n = 0; n < 300; n++) {
    ask(school, `person${n}@x.org`)
    ask(school, `person${n}@x.org`)
    signIn(school, `person${n}@x.org`)
  }
})

test('one mailbox is refused from one address long before the address is, and others are not', () => {
  const { ask, pass } = limited(600)
  for (let n = 0; n < 10; n++) ask(school, 'ann@x.org')
  for (let n = 0; n < 2_000; n++) assert.throws(() => ask(school, 'ann@x.org'), { status: 429 })
  ask(school, 'ben@x.org')
  ask('203.0.113.9', 'ann@x.org')
  pass(60_000)
  ask(school, 'ann@x.org')
})

test('who tries many mailboxes in vain meets the limit of the address', () => {
  const { ask } = limited(600)
  for (let n = 0; n < 600; n++) ask(school, `nobody${n}@x.org`)
  assert.throws(() => ask(school, 'one-more@x.org'), { status: 429 })
  ask('203.0.113.9', 'one-more@x.org')
})

test('a sign-in frees no more than was counted for it, and never for another address', () => {
  const { ask, signIn, limit } = limited(5)
  for (let n = 0; n < 4; n++) ask(school, `nobody${n}@x.org`)
  signIn(school, 'ann@x.org')
  ask(school, 'nobody4@x.org')
  assert.throws(() => limit.count({ address: school }, 'mail'), { status: 429 })
  limit.refund({ address: '203.0.113.9' }, 'nobody0@x.org')
  assert.throws(() => limit.count({ address: school }, 'mail'), { status: 429 })
})

test('links that are refused answer 429 when there were twice as many as the limit, and valid ones are not counted', () => {
  const { limit } = limited(5)
  for (let n = 0; n < 10; n++) limit.countFailure({ address: school })
  assert.throws(() => limit.countFailure({ address: school }), { status: 429 })
})

test('0 is no limit', () => {
  const { ask } = limited(0)
  for (let n = 0; n < 2_000; n++) ask(school, 'ann@x.org')
})

test('a browser in which a user signed in before is not locked out by another client behind its address', () => {
  const { ask, signIn } = limited(600)
  for (let n = 0; n < 600; n++) ask(school, `guess${n}@x.org`)
  assert.throws(() => ask(school, 'one-more@x.org'), { status: 429 })
  for (let n = 0; n < 300; n++) {
    ask(school, `person${n}@x.org`, `device${n}`)
    signIn(school, `person${n}@x.org`, `device${n}`)
  }
  assert.throws(
    () => ask(school, 'one-more@x.org'),
    { status: 429 },
    'their sign-ins free nothing for the other client',
  )
})

test('such a browser has ten requests a minute beside those of its address', () => {
  const { ask } = limited(600)
  for (let n = 0; n < 600; n++) ask(school, `guess${n}@x.org`)
  for (let n = 0; n < 10; n++) ask(school, `guess${n}@x.org`, 'device')
  assert.throws(() => ask(school, 'guess@x.org', 'device'), { status: 429 })
})

test('requests for links that are used up leave providers and sessions as they were', () => {
  const { ask, limit } = limited(5)
  for (let n = 0; n < 5; n++) ask(school, `guess${n}@x.org`)
  assert.throws(() => ask(school, 'one-more@x.org'), { status: 429 })
  for (const kind of ['provider', 'session'] as const) limit.count({ address: school }, kind)
})

test('one account has so many requests under way and no more, and others are not concerned', () => {
  const limit = new ConcurrencyLimit()
  const leaves = Array.from({ length: maxAtOnce }, () => limit.enter(1))
  const isRefusal = (error: unknown) =>
    error instanceof Refusal && error.status === 429 && error.headers['retry-after'] === '1'
  assert.throws(() => limit.enter(1), isRefusal)
  limit.enter(2)()
  leaves[0]?.()
  limit.enter(1)
  assert.throws(() => limit.enter(1), isRefusal)
})
