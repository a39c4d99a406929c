import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startEnginelessBerth, tokenIn } from '../../support/berth-without-engine.ts'
import { FakeEngine } from '../../support/engine/fake-engine.ts'
import { openStream } from '../../support/event-stream.ts'
import { waitFor } from '../../support/program.ts'

/** All users together have 5,000 event streams and 500 open logs at most; here it is two of each. */
const engine = new FakeEngine()
const berth = await startEnginelessBerth(
  { after },
  {
    maxStreams: { events: 2, logs: 2 },
    // Programs that write nothing and do not end.
    runtime: {
      ...engine.runtime,
      followLogs: async (_id, _lines, _onLine, signal) => void (await once(signal, 'abort')),
    },
  },
)
after(() => berth.close())

async function signUp(name: string): Promise<string> {
  const email = `${name}@x.org`
  assertOk(await berth.call('POST', '/api/auth/signup', { body: { email } }))
  const mail = berth.mails.findLast(({ to }) => to === email)
  assert.ok(mail)
  const verified = await berth.call('GET', `/api/auth/verify-signup?token=${tokenIn(mail)}`)
  assertOk(verified)
  return verified.body.access_token
}

const [ann, bob, cat] = [await signUp('ann'), await signUp('bob'), await signUp('cat')]

for (const path of ['/api/container/events', '/api/container/logs/dev'])
  test(`when all users together have too many open, ${path} is 503 with Retry-After until one ends, and nothing else is`, async () => {
    for (const token of [ann, bob, cat]) assertOk(await berth.call('POST', '/api/container/launch/dev', { token }))
    const first = await openStream(berth, ann, { path })
    assert.equal(first.status, 200)
    assert.equal((await openStream(berth, bob, { path })).status, 200)
    const refused = await berth.call('GET', path, { token: cat })
    assertRefused(refused, 503)
    assert.equal(refused.headers.get('retry-after'), '30')
    assert.equal(refused.headers.get('berth-refusal'), 'streamsFull')
    assertOk(await berth.call('GET', '/api/user/containers', { token: cat }))
    first.close()
    await waitFor('a stream that is accepted', async () => (await openStream(berth, cat, { path })).status === 200)
  })
