import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, blockUser } from '#test/support/api-calls.ts'
import { outside, pollUntil, startRig } from '#test/support/control-plane.ts'
import { openStream, type OpenStream } from '#test/support/event-stream.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { onlyLong, timeLimit, waitLimit } from '#test/support/extent.ts'

const rig = await startRig({ after }, {})
const { berth } = rig
const admin = await rig.personWithoutContainer('boss')

const bob = await rig.person('bob')

test("a page receives the state and changes of its user's containers, and nothing of other users'", async () => {
  const ann = await rig.person('ann')
  const [mine, theirs] = [await openStream(berth, ann.token), await openStream(berth, bob.token)]
  assert.deepEqual([mine.status, mine.contentType], [200, 'text/event-stream'])
  await untilTold(theirs, 'container dev running')
  await outside.stop(ann.address().containerId)
  await untilTold(mine, 'container dev asleep')
  assert.deepEqual(statuses(mine), ['snapshot', 'container dev running', 'container dev asleep'])
  assert.deepEqual(statuses(theirs), ['snapshot', 'container dev running'])
  const [runs, ended] = mine.events.filter(({ name }) => name === 'container').map(({ data }) => data)
  assert.ok(Math.abs(Date.now() - Date.parse(String(runs?.since))) < 600_000, 'since when it runs')
  assert.deepEqual([ended?.since, ended?.why], [undefined, undefined], 'Berth did not stop it')
  mine.close()
  theirs.close()
})

test('a page that lost its connection gets the events that it missed, in order and once', async () => {
  const ivy = await rig.person('ivy')
  const { containerId } = ivy.address()
  const [stayed, lost] = [await openStream(berth, ivy.token), await openStream(berth, ivy.token)]
  await pollUntil(
    () => lost.lastId() !== undefined && stayed.lastId() !== undefined,
    () => lost.text(),
  )
  lost.close()
  for (const [change, status] of [
    [outside.pause, 'paused'],
    [outside.unpause, 'running'],
    [outside.stop, 'asleep'],
  ] as const) {
    await change(containerId)
    await pollUntil(
      () => statuses(stayed).at(-1) === `container dev ${status}`,
      () => stayed.text(),
    )
  }
  const lastId = lost.lastId() ?? ''
  const missed = stayed.events.filter(({ id }) => numberOf(id) > numberOf(lastId))
  const back = await openStream(berth, ivy.token, { lastId })
  await untilTold(back, 'container dev asleep')
  assert.deepEqual(back.events, missed)
  assert.deepEqual(statuses(back), ['container dev paused', 'container dev running', 'container dev asleep'])
  await outside.start(containerId)
  await pollUntil(
    () => statuses(back).at(-1) === 'container dev running',
    () => back.text(),
  )
  stayed.close()
  back.close()
})

test('a page that comes with an unknown event id gets the present state', async () => {
  const first = await openStream(berth, bob.token)
  await pollUntil(
    () => first.lastId() !== undefined,
    () => first.text(),
  )
  const [epoch] = (first.lastId() ?? '').split('-')
  for (const lastId of ['', 'x', '-', `0123456789ab-${numberOf(first.lastId())}`, `${epoch}-999999`, `${epoch}--1`]) {
    const stream = await openStream(berth, bob.token, { lastId })
    await untilTold(stream, 'container dev running')
    assert.deepEqual(statuses(stream), ['snapshot', 'container dev running'], lastId)
    stream.close()
  }
  first.close()
})

// An app is not probed while no page is open; a page that came back and received what it missed started no probe either.
test('a page that was away while a container was launched hears that its app is ready', async () => {
  const lou = await rig.personWithoutContainer('lou')
  const before = await openStream(berth, lou.token)
  await pollUntil(
    () => before.lastId() !== undefined,
    () => before.text(),
  )
  before.close()
  assertOk(await lou.call('POST', '/api/container/launch/prod'))
  const back = await openStream(berth, lou.token, { lastId: before.lastId() })
  await untilTold(back, 'launch prod ready')
  assert.ok(!statuses(back).includes('snapshot'), 'it gets what it missed')
  back.close()
})

test('after Berth was started again a page that reconnects gets the present state', onlyLong, async (t) => {
  const before = await startRig(t)
  const kim = await before.person('kim')
  const stream = await openStream(before.berth, kim.token)
  await untilTold(stream, 'container dev running')
  const { containerId } = kim.address()
  await before.berth.close()
  await stream.ended
  await outside.stop(containerId)
  const { installation, dataDir } = before.berth
  const after = await startRig(t, {}, { installation, dataDir })
  const back = await openStream(after.berth, kim.token, { lastId: stream.lastId() })
  await untilTold(back, 'container dev asleep')
  assert.equal(back.lines()[0], 'snapshot')
  back.close()
})

test('a stream ends when its token is revoked; those of other tokens go on', async () => {
  const cat = await rig.personWithoutContainer('cat')
  const [one, two] = [
    await openStream(berth, cat.token),
    await openStream(berth, (await rig.personWithoutContainer('dan')).token),
  ]
  assertOk(await cat.call('POST', '/api/auth/logout'))
  await one.ended
  let isOpen = true
  void two.ended.then(() => (isOpen = false))
  await observationTime(100)
  assert.ok(isOpen)
  two.close()
})

test('a stream ends when its owner is blocked, and no other is opened', async () => {
  const eve = await rig.personWithoutContainer('eve')
  const stream = await openStream(berth, eve.token)
  assertOk(await blockUser(admin, eve.id))
  await stream.ended
  assertRefused(await eve.call('GET', '/api/container/events'), 403)
})

test('without lasting sessions a stream ends with its token', async (t) => {
  const lifetime = Math.ceil(waitLimit(6_000) / 1_000)
  const env = { JWT_ACCESS_TOKEN_EXPIRES: String(lifetime), SESSION_IDLE: '0' }
  // Signing up must not take longer than the token lives, so no container is started.
  const brief = await startRig(t, {}, { env, wrapRuntime: noCreateRuntime })
  const fay = await brief.person('fay')
  const stream = await openStream(brief.berth, fay.token)
  assert.equal(stream.status, 200)
  const began = performance.now()
  await stream.ended
  assert.ok(performance.now() - began < lifetime * 1_000 + waitLimit(10_000))
})

test('a user has at most twenty streams, and a closed one makes room', async () => {
  const gus = await rig.personWithoutContainer('gus')
  const streams = await Promise.all(Array.from({ length: 20 }, () => openStream(berth, gus.token)))
  const refused = await openStream(berth, gus.token)
  refused.close()
  assert.equal(refused.status, 429)
  streams[0]?.close()
  await pollUntil(
    async () => {
      const next = await openStream(berth, gus.token)
      next.close()
      return next.status === 200
    },
    () => 'no room was made',
  )
  for (const stream of streams) stream.close()
})

test('open streams do not keep Berth from ending', onlyLong, async (t) => {
  const brief = await startRig(t)
  const hal = await brief.person('hal')
  const stream = await openStream(brief.berth, hal.token)
  const began = performance.now()
  await brief.berth.close()
  await stream.ended
  assert.ok(performance.now() - began < timeLimit(5_000))
})

/** What a stream brought, without launches: how far they are depends on when it was opened. */
const statuses = (stream: OpenStream) => stream.lines().filter((line) => !line.startsWith('launch'))

const numberOf = (id: string | undefined) => Number(id?.split('-')[1] ?? 0)

/** Waits until a stream has brought this event. */
const untilTold = (stream: OpenStream, line: string) =>
  pollUntil(
    () => stream.lines().includes(line),
    () => `no "${line}" in: ${stream.text()}`,
  )
