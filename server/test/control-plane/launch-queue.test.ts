import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertOk,
  assertRefused,
  blockContainer,
  blockUser,
  engineState,
  onEngine,
  recordOf,
} from '#test/support/api-calls.ts'
import { startBerth, type Berth, type BerthOptions, type Lifetime, type Person } from '#test/support/berth.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { openStream, type OpenStream } from '#test/support/event-stream.ts'
import { CreationGate } from '#test/support/engine/creation-gate.ts'
import { during, noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

/** A Berth whose creations can be held up, and people who have nothing yet. */
async function startHeld(lifetime: Lifetime, env: Record<string, string>, options: BerthOptions = {}) {
  const [gate, refusal] = [new CreationGate(), { active: true }]
  const berth = await startBerth(lifetime, {
    ...options,
    env,
    wrapRuntime: (runtime) => gate.before(noCreateRuntime(runtime, refusal)),
  })
  lifetime.after(async () => gate.open())
  const people = async (...names: string[]): Promise<Person[]> => {
    refusal.active = true
    const all: Person[] = []
    for (const name of names) all.push(await berth.signUp(`${name}@x.org`))
    refusal.active = false
    return all
  }
  return { berth, gate, refusal, people }
}

const launch = (person: Person) => person.call('POST', '/api/container/launch/dev')

/** Stages of a stream's launches, in order; how signing up failed, which a new page gets, is none of them. */
const stagesIn = ({ events }: OpenStream) =>
  events.flatMap(({ name, data }) => (name === 'launch' && data.stage !== 'failed' ? [data] : []))

/** Launches, and waits until it has a place in the queue. */
async function launchIntoQueue(berth: Berth, person: Person) {
  const stream = await openStream(berth, person.token)
  const reply = launch(person)
  await pollUntil(
    () => stagesIn(stream).some(({ stage }) => stage === 'queued'),
    () => `no place in ${stream.text()}`,
  )
  return { stream, reply }
}

/** Launches, and waits until the engine was asked for it. */
async function launchIntoEngine(gate: CreationGate, person: Person) {
  const [before, reply] = [gate.asked.length, launch(person)]
  await pollUntil(
    () => gate.asked.length > before,
    () => 'no creation was asked for',
  )
  return { reply }
}

const { berth, gate, refusal, people } = await startHeld({ after }, { LAUNCH_PARALLEL: '2' })
const [admin, ...others] = (await people('boss', 'ann', 'ben')) as [Person, Person, Person]

/** Lets what is held up go on, and the engine refuse it: a container would say no more of those that wait behind it. */
async function refuseHeld(held: readonly { readonly reply: ReturnType<typeof launch> }[]): Promise<void> {
  await during(refusal, async () => {
    gate.open()
    for (const { reply } of held) assertRefused(await reply, 500, ['reason'])
  })
}

test('of five people who launch at once all get their container, two at a time, and who waits sees a place', async () => {
  const crowd = await people(...Array.from({ length: 5 }, (_, at) => `crowd${at}`))
  const streams = await Promise.all(crowd.map(({ token }) => openStream(berth, token)))
  gate.maxConcurrent = 0
  const replies = await Promise.all(crowd.map(launch))
  for (const reply of replies) assertOk(reply)
  assert.equal(new Set(replies.map(({ body }) => body.container_id)).size, crowd.length)
  assert.equal(gate.maxConcurrent, 2)
  const waited = streams.map((stream) => stagesIn(stream).filter(({ stage }) => stage === 'queued'))
  assert.equal(waited.filter((places) => places.length > 0).length, crowd.length - 2)
  for (const places of waited) {
    const numbers = places.map(({ place }) => Number(place))
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => b - a),
      'no launch falls back',
    )
  }
  for (const stream of streams) {
    await pollUntil(
      () => stagesIn(stream).at(-1)?.stage === 'ready',
      () => stream.text(),
    )
    const order = stagesIn(stream).map(({ stage }) => stage)
    assert.deepEqual(
      order.filter((stage) => stage !== 'queued'),
      ['creating', 'starting', 'waiting', 'ready'],
    )
    stream.close()
  }
})

test('a block of container or user ends the wait at once, and nothing of theirs ever runs', async () => {
  const [cat, dan] = (await people('cat', 'dan')) as [Person, Person]
  const before = gate.asked.length
  gate.close()
  const held = [await launchIntoEngine(gate, others[0]), await launchIntoEngine(gate, others[1])]
  const [first, second] = [await launchIntoQueue(berth, cat), await launchIntoQueue(berth, dan)]
  assertOk(await blockContainer(admin, (await recordOf(admin, cat.id)).id))
  assertRefused(await first.reply, 403, ['blocked_at'])
  assertOk(await blockUser(admin, dan.id))
  assertRefused(await second.reply, 403, ['blocked_at'])
  await refuseHeld(held)
  assert.deepEqual(
    gate.asked.slice(before),
    others.map(({ slug }) => `${berth.installation}-${slug}-dev`),
    'nothing else was asked of the engine',
  )
})

const stopByOperator = async ({ id }: Person) =>
  berth.operate('POST', `/api/admin/containers/${(await recordOf(admin, id)).id}/stop`)

for (const [who, names, stop] of [
  ['its owner', ['abe', 'bea', 'cal'], (person: Person) => person.call('POST', '/api/container/stop/dev')],
  ['the operator', ['ada', 'bob', 'con'], stopByOperator],
] as const)
  test(`a stop by ${who} ends the wait at once; what the engine works on runs first, and is stopped then`, async () => {
    const [abe, ...front] = (await people(...names)) as [Person, Person, Person]
    gate.close()
    const held = [await launchIntoEngine(gate, front[0]), await launchIntoEngine(gate, front[1])]
    const { reply, stream } = await launchIntoQueue(berth, abe)
    assertOk(await stop(abe))
    const refused = await reply
    assertRefused(refused, 500, ['reason'])
    assert.equal(refused.body.reason, 'stopped')
    await pollUntil(
      () => stream.events.some(({ data }) => data.stage === 'failed' && data.reason === 'stopped'),
      () => stream.text(),
    )
    stream.close()
    const stopped = held.map((_, at) => stop(front[at] as Person))
    gate.open()
    for (const each of stopped) assertOk(await each)
    for (const person of front)
      for (const id of await onEngine(berth, person.id)) assert.equal(await engineState(berth, id), 'exited')
    assert.deepEqual(await onEngine(berth, abe.id), [])
    assertOk(await launch(abe))
    for (const { reply: each } of held) await each
  })

test('a deletion does not wait for a launch that waits for its turn', async () => {
  const [eve, ...front] = (await people('eve', 'fay', 'gus')) as [Person, Person, Person]
  const before = gate.asked.length
  gate.close()
  const held = [await launchIntoEngine(gate, front[0]), await launchIntoEngine(gate, front[1])]
  const { reply } = await launchIntoQueue(berth, eve)
  assertOk(await admin.call('DELETE', `/api/admin/containers/${(await recordOf(admin, eve.id)).id}`))
  assertRefused(await reply, 500)
  await refuseHeld(held)
  assert.ok(!gate.asked.slice(before).some((name) => name.endsWith(`-${eve.slug}-dev`)), gate.asked.join())
})

test('who goes away while they wait gets their container all the same, once', async () => {
  const [hal, ...front] = (await people('hal', 'ida', 'jim')) as [Person, Person, Person]
  gate.close()
  const held = [await launchIntoEngine(gate, front[0]), await launchIntoEngine(gate, front[1])]
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${hal.token}` }
  const stream = await openStream(berth, hal.token)
  const left = fetch(`${berth.url}/api/container/launch/dev`, { method: 'POST', headers, signal: leaving.signal })
  await pollUntil(
    () => stagesIn(stream).length > 0,
    () => 'no place',
  )
  leaving.abort()
  await assert.rejects(left)
  gate.open()
  for (const { reply } of held) assertOk(await reply)
  await pollUntil(
    () => stagesIn(stream).at(-1)?.stage === 'ready',
    () => stream.text(),
  )
  stream.close()
  const [id, ...more] = await onEngine(berth, hal.id)
  assert.deepEqual(more, [])
  assert.equal((await launch(hal)).body.container_id, id)
})

test(
  'a launch that takes longer than LAUNCH_TIMEOUT is answered in time, goes on, and is found by who asks again',
  onlyLong,
  async (t) => {
    const slow = await startHeld(t, { LAUNCH_PARALLEL: '1', LAUNCH_TIMEOUT: '1' })
    const [kim, lea] = (await slow.people('kim', 'lea')) as [Person, Person]
    slow.gate.close()
    const first = await launchIntoEngine(slow.gate, kim)
    const second = await launchIntoQueue(slow.berth, lea)
    const signingIn = slow.berth.signUp('mia@x.org')
    for (const [reply, words] of [
      [await first.reply, /being started/] as const,
      [await second.reply, /position 1 of \d/] as const,
    ]) {
      assertRefused(reply, 500)
      assert.match(reply.body.error, words)
      assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/)
    }
    second.stream.close()
    assert.equal((await signingIn).auth.user.container_id, null, 'signing in waits for no turn')
    const again = launch(kim)
    slow.gate.open()
    for (const [person, reply] of [[kim, await again] as const, [lea, undefined] as const]) {
      await pollUntil(
        async () => (await launch(person)).status === 200,
        () => 'it never came to be',
      )
      const [id, ...more] = await onEngine(slow.berth, person.id)
      assert.deepEqual(more, [])
      if (reply?.status === 200) assert.equal(reply.body.container_id, id)
    }
    assert.equal(slow.gate.asked.filter((name) => name.endsWith('-kim-dev')).length, 2, 'sign-up, and one launch')
  },
)

test('beyond MAX_RUNNING and MAX_PER_USER launches are refused before they wait; what failed takes no room', async (t) => {
  const small = await startHeld(t, { MAX_RUNNING: '2', MAX_PER_USER: '1' })
  const [oda, pat, quin] = (await small.people('oda', 'pat', 'quin')) as [Person, Person, Person]
  small.refusal.active = true
  for (const person of [oda, pat, quin]) assertRefused(await launch(person), 500, ['reason'])
  small.refusal.active = false
  assertOk(await launch(oda))
  const own = await oda.call('POST', '/api/container/launch/prod')
  assertRefused(own, 500, ['reason'])
  assert.match(own.body.error, /^You have 1 /)
  assertOk(await launch(pat))
  const refused = await launch(quin)
  assertRefused(refused, 500, ['reason'])
  assert.equal(refused.body.reason, 'full')
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  assertOk(await oda.call('POST', '/api/container/restart'))
  await small.berth.runtime.stop((await onEngine(small.berth, pat.id))[0] ?? '')
  await pollUntil(
    async () => (await launch(quin)).status === 200,
    () => 'no room was made',
  )
})

test('at a stop a waiting launch is refused at once, and one in progress gets its container', onlyLong, async () => {
  const [max, ...front] = (await people('max', 'nan', 'ole')) as [Person, Person, Person]
  gate.close()
  const held = [await launchIntoEngine(gate, front[0]), await launchIntoEngine(gate, front[1])]
  const { reply, stream } = await launchIntoQueue(berth, max)
  const closed = berth.close()
  const refused = await reply
  assertRefused(refused, 500)
  assert.match(refused.body.error, /The service is being stopped/)
  stream.close()
  gate.open()
  for (const each of held) assertOk(await each.reply)
  await closed
})
