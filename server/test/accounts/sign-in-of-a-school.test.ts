// Needs a process of its own: it measures how long 300 sign-ins take.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startEnginelessBerth, tokenIn } from '../support/berth-without-engine.ts'
import { firstOfList, onlyLong } from '#test/support/extent.ts'

/**
 * A school behind one network address, with the default limits: `npm test -- sign-in-of-a-school`. What the requests of
 * this process say of their origin is believed, because it is a trusted proxy.
 */
const people = 300
/** Requests at the same time: a class presses its buttons within seconds, not in the same millisecond. */
const atOnce = 20
const school = { 'x-forwarded-for': '203.0.113.9' }

const berth = await startEnginelessBerth(
  { after },
  {
    // Each person signs in more often than three times an hour here.
    env: { TRUSTED_PROXIES: '127.0.0.1', MAGIC_LINK_RATE_LIMIT: '10', MAILBOX_RATE_LIMIT: '10' },
  },
)

/** What each person's browser keeps of its last sign-in. */
const devices = new Map<string, string>()
const headersOf = (email: string) => ({ ...school, cookie: devices.get(email) ?? '' })

const post = (path: string, email: string, headers: Record<string, string> = school) =>
  berth.call('POST', path, { body: { email }, headers })

/** Asks for a link like the form of the front end, and uses it. @returns the first status that is not 200, or 200 */
async function signIn(email: string, purpose: 'signup' | 'login'): Promise<number> {
  const asked = await post('/api/auth/link', email, headersOf(email))
  if (asked.status !== 200) return asked.status
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail, `${email} was mailed nothing`)
  const path = `/api/auth/verify-${purpose}?token=${tokenIn(mail)}`
  const { status, headers } = await berth.call('GET', path, { headers: headersOf(email) })
  const device = headers.getSetCookie().find((line) => line.startsWith('berth_device='))
  if (device !== undefined) devices.set(email, device.replace(/;.*/s, ''))
  return status
}

async function forEachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const item of left) await work(item)
    }),
  )
}

const emails = Array.from({ length: people }, (_, at) => `pupil${at}@school.example`)

async function allSignIn(purpose: 'signup' | 'login'): Promise<{ seconds: number; refused: number[] }> {
  const refused: number[] = []
  const begun = performance.now()
  await forEachOf(emails, async (email) => {
    const status = await signIn(email, purpose)
    if (status !== 200) refused.push(status)
  })
  return { seconds: (performance.now() - begun) / 1_000, refused }
}

/** Tries addresses one after the other. @returns how many of so many requests were answered before the first 429 */
async function tryAddresses(prefix: string, count: number): Promise<{ answered: number; retryAfter: number }> {
  let answered = 0
  let retryAfter = 0
  const attempts = Array.from({ length: count }, (_, at) => `${prefix}${at}@school.example`)
  await forEachOf(attempts, async (email) => {
    if (retryAfter > 0) return
    const reply = await post('/api/auth/login', email)
    if (reply.status === 429) retryAfter = Number(reply.headers.get('retry-after'))
    else answered += 1
  })
  return { answered, retryAfter }
}

const kinds = [
  ['who never signed in before', 'signup'],
  ['with an account', 'login'],
] as const
for (const [index, [words, purpose]] of kinds.entries())
  test(
    `300 people ${words} sign in from one network address within one minute, and all get in`,
    firstOfList(index),
    async (t) => {
      const { seconds, refused } = await allSignIn(purpose)
      t.diagnostic(`${people} sign-ins in ${seconds.toFixed(1)} s`)
      assert.deepEqual(refused, [])
      assert.ok(seconds < 60, `${seconds} s`)
    },
  )

test(
  'all of them get in again while another client behind the same address tries 200 addresses',
  onlyLong,
  async (t) => {
    const [{ seconds, refused }, stranger] = await Promise.all([allSignIn('login'), tryAddresses('guess', 200)])
    t.diagnostic(
      `${people} sign-ins in ${seconds.toFixed(1)} s, ${stranger.answered} attempts of the other client answered`,
    )
    assert.deepEqual(refused, [])
  },
)

test(
  'all of them get in again after another client behind the same address has used up its limit, and while it goes on',
  onlyLong,
  async (t) => {
    const used = await tryAddresses('used', 1_500)
    assert.ok(used.retryAfter > 0, 'the limit was not used up')
    const refusedMeanwhile: number[] = []
    const over = new AbortController()
    const goOn = async () => {
      for (let n = 0; !over.signal.aborted; n++) {
        const { status } = await post('/api/auth/login', `more${n}@school.example`)
        refusedMeanwhile.push(status)
      }
    }
    const people = allSignIn('login').finally(() => over.abort())
    const [{ seconds, refused }] = await Promise.all([people, goOn()])
    t.diagnostic(`sign-ins in ${seconds.toFixed(1)} s beside ${refusedMeanwhile.length} attempts of the other client`)
    assert.deepEqual(refused, [])
    assert.ok(refusedMeanwhile.filter((status) => status !== 429).length <= 1_200)
  },
)

test('a valid link signs in also after the address was refused for links that are none', onlyLong, async () => {
  const email = 'pupil0@school.example'
  assert.equal((await post('/api/auth/link', email, headersOf(email))).status, 200)
  const statuses = new Set<number>()
  await forEachOf(
    Array.from({ length: 2_500 }, (_, at) => at),
    async (at) => {
      const path = `/api/auth/verify-login?token=${at}`
      statuses.add((await berth.call('GET', path, { headers: school })).status)
    },
  )
  assert.deepEqual([...statuses].toSorted(), [400, 429])
  const mail = berth.mails.findLast(({ to }) => to === email)
  const path = `/api/auth/verify-login?token=${tokenIn(mail ?? assert.fail('no mail'))}`
  assert.equal((await berth.call('GET', path, { headers: school })).status, 200)
})

test('an unknown client is refused after 600 attempts within a minute, with Retry-After, whatever sign-ins happen beside', async (t) => {
  const { answered, retryAfter } = await tryAddresses('try', 1_500)
  t.diagnostic(`${answered} attempts answered before 429`)
  // Another window may begin meanwhile.
  assert.ok(answered <= 1_200, `${answered} attempts were answered`)
  assert.ok(retryAfter >= 1 && retryAfter <= 60, `${retryAfter}`)
})

test('one mailbox has ten attempts a minute from the address of the school', async (t) => {
  const other = { 'x-forwarded-for': '203.0.113.77' }
  const statuses: number[] = []
  for (let attempt = 0; attempt < 12; attempt++) {
    const reply = await berth.call('POST', '/api/auth/login', {
      body: { email: 'victim@school.example' },
      headers: other,
    })
    statuses.push(reply.status)
  }
  t.diagnostic(statuses.join(' '))
  assert.equal(statuses.indexOf(429), statuses.filter((status) => status !== 429).length)
  assert.ok(statuses.indexOf(429) <= 10)
})
