import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, blockUser } from '#test/support/asking.ts'
import { outside, patiently, startRig } from '#test/support/control-plane.ts'
import { openStream } from '#test/support/event-stream.ts'

const rig = await startRig({ after }, {})
const { berth } = rig
const admin = await rig.person('boss')

test("a page is told what becomes of its own containers, and of nobody else's", async () => {
  const [ann, bob] = [await rig.person('ann'), await rig.person('bob')]
  const [mine, theirs] = [await openStream(berth, ann.token), await openStream(berth, bob.token)]
  assert.deepEqual([mine.status, mine.contentType], [200, 'text/event-stream'])
  await outside.stop(ann.address().containerId)
  await patiently(
    () => mine.events.length > 0,
    () => mine.text(),
  )
  assert.deepEqual(mine.events, [{ name: 'container', data: { type: 'dev', status: 'asleep' } }])
  assert.deepEqual(theirs.events, [])
  mine.close()
  theirs.close()
})

test('a stream ends when its token is revoked; those of other tokens go on', async () => {
  const cat = await rig.person('cat')
  const [one, two] = [await openStream(berth, cat.token), await openStream(berth, (await rig.person('dan')).token)]
  assertOk(await cat.call('POST', '/api/auth/logout'))
  await one.ended
  let isOpen = true
  void two.ended.then(() => (isOpen = false))
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.ok(isOpen)
  two.close()
})

test('a stream ends when its owner is blocked, and no other is opened', async () => {
  const eve = await rig.person('eve')
  const stream = await openStream(berth, eve.token)
  assertOk(await blockUser(admin, eve.id))
  await stream.ended
  assertRefused(await eve.call('GET', '/api/container/events'), 403)
})

test('a stream ends when its token expires', async (t) => {
  const brief = await startRig(t, {}, { env: { JWT_ACCESS_TOKEN_EXPIRES: '3' } })
  const fay = await brief.person('fay')
  const stream = await openStream(brief.berth, fay.token)
  assert.equal(stream.status, 200)
  const began = performance.now()
  await stream.ended
  assert.ok(performance.now() - began < 4_000)
})

test('somebody has at most twenty streams, and a closed one makes room', async () => {
  const gus = await rig.person('gus')
  const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(berth, gus.token)))
  const refused = await openStream(berth, gus.token)
  refused.close()
  assert.equal(refused.status, 429)
  streams[0]?.close()
  await patiently(
    async () => {
      const next = await openStream(berth, gus.token)
      next.close()
      return next.status === 200
    },
    () => 'no room was made',
  )
  for (const stream of streams) stream.close()
})

test('open streams do not keep Berth from ending', async (t) => {
  const brief = await startRig(t)
  const hal = await brief.person('hal')
  const stream = await openStream(brief.berth, hal.token)
  const began = performance.now()
  await brief.berth.close()
  await stream.ended
  assert.ok(performance.now() - began < 5_000)
})
