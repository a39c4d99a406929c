import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, instant, logIn, onEngine, until } from '../../support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '../../support/berth.ts'
import { pollUntil } from '../../support/control-plane.ts'
import { askEngine } from '../../support/engine/engine.ts'
import { openStream, type OpenStream } from '../../support/event-stream.ts'
import { startRegistry } from '../../support/engine/registry.ts'
import { firstOfList, timeLimit } from '#test/support/extent.ts'

const registry = await startRegistry({ after }, { isSlow: true, layers: [100_000] })
const good = JSON.parse(await testTemplates()) as { dev: object }
const shell = (script: string) => ({ command: ['/bin/sh', '-c', script] })
const templates = {
  ...good,
  quits: { ...good.dev, ...shell('for line in $(seq 60); do echo "line $line of my-password"; done; exit 3') },
  greedy: { ...good.dev, ...shell('echo hungry; sleep 0.3; exec tail /dev/zero'), memory: '8m' },
  brief: { ...good.dev, ...shell('echo "no such file: data.csv" >&2; sleep 1.2; exit 3') },
  finished: { ...good.dev, ...shell('echo "all done"; sleep 1.2') },
  deaf: { ...good.dev, ...shell('while :; do sleep 0.1; done') },
  nothing: { ...good.dev, command: ['/no/such/program'] },
  pulled: { ...good.dev, image: registry.image },
}
const berth = await startBerth(
  { after },
  { env: { CONTAINER_TEMPLATES: JSON.stringify(templates), LAUNCH_PARALLEL: '1' } },
)
const ann = await berth.signUpWithoutContainer('ann@x.org')
const launch = (person: Person, type: string) => person.call('POST', `/api/container/launch/${type}`)

/** What a stream was told of launches of a type. */
const launchesIn = ({ events }: OpenStream, type: string) =>
  events.flatMap(({ name, data }) => (name === 'launch' && data.type === type ? [data] : []))

/** Of a program that ended. */
const ofEnd = ['reason', 'exit_code', 'is_out_of_memory', 'last_lines']

test('a program that ends at once is 500 with its exit code and its last 50 lines, for its owner alone', async () => {
  const [mine, theirs] = [
    await openStream(berth, ann.token),
    await openStream(berth, (await berth.signUpWithoutContainer('bob@x.org')).token),
  ]
  const refused = await launch(ann, 'quits')
  assertRefused(refused, 500, ofEnd)
  const { error, last_lines, ...rest } = refused.body
  assert.deepEqual(rest, { reason: 'crashed', exit_code: 3, is_out_of_memory: false })
  assert.match(error, /exit code 3/)
  assert.deepEqual(
    last_lines,
    Array.from({ length: 50 }, (_, at) => `line ${at + 11} of my-password`),
  )
  await pollUntil(
    () => launchesIn(mine, 'quits').at(-1)?.stage === 'failed',
    () => mine.text(),
  )
  const { message, ...event } = launchesIn(mine, 'quits').at(-1) ?? {}
  assert.deepEqual(event, { type: 'quits', stage: 'failed', reason: 'crashed', exit_code: 3, last_lines })
  assert.equal(message, error)
  assert.doesNotMatch(theirs.text(), /my-password/)
  assert.doesNotMatch(berth.logs.join('\n'), /my-password/)
  mine.close()
  theirs.close()
})

test('the gateway tells the same, and a visit does not start it again', async () => {
  const visit = () => ann.call('GET', `/${ann.slug}-quits/`)
  assert.match((await visit()).text, /exit code 3|has ended/)
  const before = await onEngine(berth, ann.id)
  await visit()
  assert.deepEqual(await onEngine(berth, ann.id), before)
})

/** When the engine says that the last container of this type ended, in ms since 1970. */
async function endOf(person: Person, type: string): Promise<number> {
  const ids = (await berth.runtime.list({ userId: person.id })).filter(({ owner }) => owner?.type === type)
  const { State } = (await askEngine('GET', `/containers/${ids[0]?.id}/json`)) as { State: { FinishedAt: string } }
  return Date.parse(State.FinishedAt)
}

const endings = [
  ['brief', 3, 'no such file: data.csv'],
  ['finished', 0, 'all done'],
] as const
for (const [index, [type, code, line]] of endings.entries()) {
  test(
    `a program that ends with ${code} after a second, before its app listens, is reported to open pages`,
    firstOfList(index),
    async () => {
      // It was the commonest mistake of a student, and pages said "Waiting for the app" for a minute.
      const dora = await berth.signUpWithoutContainer(`dora-${type}@x.org`)
      const stream = await openStream(berth, dora.token)
      assertOk(await launch(dora, type))
      const last = () => launchesIn(stream, type).at(-1)
      await pollUntil(
        () => last()?.stage === 'failed',
        () => stream.text(),
      )
      const late = Date.now() - (await endOf(dora, type))
      assert.ok(late < timeLimit(3_000), `told ${late} ms after the end`)
      const { message, ...event } = last() ?? {}
      assert.deepEqual(event, { type, stage: 'failed', reason: 'crashed', exit_code: code, last_lines: [line] })
      assert.match(String(message), new RegExp(`exit code ${code}\\b`))
      // What several starts wrote was run together.
      await launch(dora, type)
      await pollUntil(
        () => launchesIn(stream, type).filter(({ stage }) => stage === 'failed').length === 2,
        () => stream.text(),
      )
      assert.deepEqual(last()?.last_lines, [line])
      stream.close()
      // The explanation was gone when the page was loaded again.
      const again = await openStream(berth, dora.token)
      await pollUntil(
        () => launchesIn(again, type).length > 0,
        () => again.text(),
      )
      assert.equal(launchesIn(again, type).at(-1)?.stage, 'failed')
      const stands = again.events.find(({ name, data }) => name === 'container' && data.type === type)?.data
      if (code === 3) assert.match(String(stands?.message), /ended by itself \(exit code 3\)/)
      else assert.deepEqual(stands, { type, status: 'asleep' })
      again.close()
    },
  )
}

test('a stop while the app is awaited ends the wait, and is no failure of its program', async () => {
  const fay = await berth.signUpWithoutContainer('fay@x.org')
  const stream = await openStream(berth, fay.token)
  assertOk(await launch(fay, 'deaf'))
  await pollUntil(
    () => launchesIn(stream, 'deaf').at(-1)?.stage === 'waiting',
    () => stream.text(),
  )
  assertOk(await fay.call('POST', '/api/container/stop/deaf'))
  await pollUntil(
    () => launchesIn(stream, 'deaf').at(-1)?.stage === 'failed',
    () => stream.text(),
  )
  assert.equal(launchesIn(stream, 'deaf').at(-1)?.reason, 'stopped')
  stream.close()
})

test('a program that needs more memory than it may use is 500, and says so', async () => {
  const stream = await openStream(berth, ann.token)
  const failures = () => launchesIn(stream, 'greedy').filter(({ stage }) => stage === 'failed')
  /** The answer of a launch, or, where a slow machine calls the program running before it ends, what pages are told. */
  const outcome = async () => {
    const count = failures().length
    const reply = await launch(ann, 'greedy')
    if (reply.status === 500) {
      assertRefused(reply, 500, ofEnd)
      assert.equal(reply.body.is_out_of_memory, reply.body.reason === 'out-of-memory')
      return reply.body
    }
    await pollUntil(
      () => failures().length > count,
      () => stream.text(),
    )
    return failures().at(-1) ?? {}
  }
  // The engine begins to watch the memory of what runs already: of what dies before that it never learns why, and nor do we.
  let ended = await outcome()
  for (let time = 0; ended.reason === 'crashed' && time < 10; time++) ended = await outcome()
  stream.close()
  assert.equal(ended.reason, 'out-of-memory', JSON.stringify(ended))
  assert.equal(ended.last_lines.at(-1), 'hungry')
})

test('a program that cannot be executed is 500, and its owner learns whom to ask', async () => {
  const refused = await launch(ann, 'nothing')
  assert.equal(refused.status, 500)
  assert.equal(refused.body.reason, 'failed')
  assert.match(refused.body.error, /cannot be executed.*administrator/)
})

test('while an image is fetched its owner sees how far it is, and others launch at once although only one may', async () => {
  const cat = await berth.signUpWithoutContainer('cat@x.org')
  const stream = await openStream(berth, ann.token)
  const launching = launch(ann, 'pulled')
  await pollUntil(
    () => launchesIn(stream, 'pulled').some(({ stage, layers_total }) => stage === 'pulling' && layers_total === 1),
    () => stream.text(),
  )
  assertOk(await launch(cat, 'prod'))
  registry.open()
  const reply = await launching
  assert.match(reply.body.error, /cannot be executed/, 'the image is here, but there is nothing in it')
  stream.close()
})

test('operators see how many launches went well and how many did not; who is refused is neither', async () => {
  const counted = async () => {
    const { text } = await berth.call('GET', '/metrics')
    const count = (result: string) =>
      Number(new RegExp(`^berth_launches_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)?.[1])
    assert.match(text, /^berth_launch_seconds_bucket\{le="\+Inf"\} [1-9]/m)
    return { running: count('running'), failed: count('failed') }
  }
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  const before = await counted()
  assertRefused(await launch(eve, 'quits'), 500, ofEnd)
  assertOk(await launch(eve, 'prod'))
  assertOk(await launch(eve, 'prod'))
  assertRefused(await launch(eve, 'no-such-type'), 400)
  // The text is made once a second; launches of a quick machine end within it.
  await until(async () => (await counted()).running !== before.running)
  assert.deepEqual(await counted(), { running: before.running + 1, failed: before.failed + 1 })

  const reply = await ann.call('GET', '/api/admin/history')
  assertOk(reply)
  const [{ at, memory_left, disk_left, ...first }] = reply.body.samples
  assert.match(at, instant)
  assert.deepEqual(first, { running: 0, waiting: 0, launched: 0, failed: 0, ready_seconds: null })
  for (const left of [memory_left, disk_left]) assert.ok(left === null || left > 0)
})

test('an image that cannot be had is 500 with that reason; signing in works all the same', async (t) => {
  const image = '127.0.0.1:1/no-server/listens:1'
  const bare = await startBerth(t, { env: { CONTAINER_TEMPLATES: await testTemplates({ image }) } })
  const dan = await bare.signUp('dan@x.org')
  assertOk(await logIn(bare, 'dan@x.org'))
  const refused = await launch(dan, 'dev')
  assertRefused(refused, 500, ['reason'])
  assert.equal(refused.body.reason, 'no-image')
})
