import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { refusals } from '#/refusals/errors.ts'
import { failedStage } from './launch-failure.ts'
import { LaunchProgress, waitStage } from './launch-progress.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { waitLimit } from '#test/support/extent.ts'

const owned = { userId: 1, type: 'dev' }
const pull = { layersDone: 1, layersTotal: 2, bytesDone: 5, bytesTotal: 10 }

function arrange(isHeard = true, path?: string) {
  const told: string[] = []
  const stages = new LaunchProgress({
    publish: (_, { data }) => void told.push(String(data.stage)),
    hasListener: () => isHeard,
    hasExited: () => false,
    readinessTarget: () => (path === undefined ? undefined : { path, usesTls: false }),
    onExited: () => undefined,
  })
  return { stages, told }
}

/** An app that does not listen yet, and how to make it. */
async function startApp(lifetime: { after(work: () => void): void }) {
  const server = createServer((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  lifetime.after(() => server.close())
  return { at: { host: '127.0.0.1', port }, listen: () => server.listen(port, '127.0.0.1') }
}

const until = async (isSo: () => boolean) => {
  for (const end = performance.now() + waitLimit(10_000); !isSo() && performance.now() < end;) await sleep(20)
}

test('an app is waiting until it accepts connections, then ready', async (t) => {
  const { stages, told } = arrange()
  const app = await startApp(t)
  stages.started(owned, app.at)
  assert.deepEqual(told, ['waiting'])
  app.listen()
  await until(() => told.length > 1)
  assert.deepEqual(told, ['waiting', 'ready'])
})

test('events say how long a start usually takes, from its turn until its app was ready', async (t) => {
  const { stages } = arrange()
  const app = await startApp(t)
  app.listen()
  const usual = () => stages.current(1).map(({ data }) => 'usual_seconds' in data && data.usual_seconds)
  for (let start = 0; start < 3; start++) {
    stages.enter(owned, { stage: 'queued', place: 1, waiting: 1 })
    assert.deepEqual(usual(), [false])
    stages.enter(owned, { stage: 'creating' })
    stages.started(owned, app.at)
    await until(() => stages.of(owned)?.stage === 'ready')
    assert.deepEqual(usual(), [false])
  }
  stages.enter(owned, { stage: 'creating' })
  assert.deepEqual(usual(), [1])
  stages.enter({ userId: 1, type: 'prod' }, { stage: 'creating' })
  assert.deepEqual(usual(), [1, false], 'of another type nothing is known')
})

test('a start whose app was not looked at says nothing of what is usual', async (t) => {
  const { stages } = arrange(false)
  const app = await startApp(t)
  app.listen()
  for (let start = 0; start < 3; start++) {
    stages.enter(owned, { stage: 'creating' })
    stages.started(owned, app.at)
    stages.onListener(1)
    await until(() => stages.of(owned)?.stage === 'ready')
  }
  stages.enter(owned, { stage: 'creating' })
  assert.deepEqual(stages.current(1), [{ name: 'launch', data: { type: 'dev', stage: 'creating' } }])
})

// The probe followed the publication of the route, and a write of the store held up its answer: 3 ms of each launch.
test('the first attempt of the probe, made while the route is published, says that the app is ready', async (t) => {
  const { stages, told } = arrange()
  let connections = 0
  const server = createServer((socket) => void (connections++, socket.destroy())).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const at = { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  const first = stages.probe(owned, at)
  assert.equal(await first, true)
  assert.deepEqual(told, [], 'nothing is told before the route is published')
  stages.started(owned, at, first)
  await until(() => told.length > 1)
  assert.deepEqual(told, ['waiting', 'ready'])
  await until(() => connections > 0)
  assert.equal(connections, 1)
})

test('after a first attempt that failed, the probe goes on', async (t) => {
  const { stages, told } = arrange()
  const app = await startApp(t)
  const first = stages.probe(owned, app.at)
  assert.equal(await first, false)
  stages.started(owned, app.at, first)
  app.listen()
  await until(() => told.length > 1)
  assert.deepEqual(told, ['waiting', 'ready'])
})

test('without a page of the owner nothing is probed before the route is published either', () => {
  assert.equal(arrange(false).stages.probe(owned, { host: '127.0.0.1', port: 1 }), undefined)
})

// The pauses began at 100 ms, and grew by half each time.
test('an app that listens soon after a probe is ready soon', async (t) => {
  const toldAfter = async () => {
    const { stages, told } = arrange()
    const app = await startApp(t)
    stages.started(owned, app.at)
    // An app may take so long to listen; the next probe would have come 0.2 s later.
    await sleep(270)
    app.listen()
    const listensAt = performance.now()
    while (told.length < 2 && performance.now() < listensAt + waitLimit(10_000)) await sleep(1)
    assert.deepEqual(told, ['waiting', 'ready'])
    return performance.now() - listensAt
  }
  // A machine that has other work is late now and then; pauses that are too long are so each time.
  const times: number[] = []
  // On a slow machine less than the 0.2 s of the pauses of before.
  const limit = Math.min(150, waitLimit(60))
  while (times.length < 10 && !times.some((late) => late < limit)) times.push(await toldAfter())
  assert.ok(Math.min(...times) < limit, `it was told ${times.join(', ')} ms later`)
})

test('an app with a ready_path is ready once it answers a GET of that below 500', async (t) => {
  const { stages, told } = arrange(true, '/healthz')
  const asked: (string | undefined)[] = []
  const server = createHttpServer((request, response) => {
    asked.push(request.url)
    response.writeHead(asked.length < 3 ? 503 : 401).end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  stages.started(owned, { host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  await until(() => told.length > 1)
  assert.deepEqual(told, ['waiting', 'ready'])
  assert.deepEqual(asked, ['/healthz', '/healthz', '/healthz'])
})

test('without a listener no app is probed; a new page gets the progress, and then the end', async (t) => {
  const { stages, told } = arrange(false)
  const app = await startApp(t)
  app.listen()
  stages.started(owned, app.at)
  await observationTime(200)
  assert.deepEqual(told, ['waiting'])
  assert.deepEqual(stages.current(1), [{ name: 'launch', data: { type: 'dev', stage: 'waiting' } }])
  stages.onListener(1)
  await until(() => told.length > 1)
  assert.deepEqual(told, ['waiting', 'ready'])
})

test('readiness of an app is not reported when its container was launched anew or has ended since', async (t) => {
  const { stages, told } = arrange()
  const app = await startApp(t)
  stages.started(owned, app.at)
  stages.enter(owned, { stage: 'creating' })
  stages.started({ userId: 1, type: 'prod' }, app.at)
  stages.forget({ userId: 1, type: 'prod' })
  app.listen()
  await observationTime(400)
  assert.deepEqual(told, ['waiting', 'creating', 'waiting'])
  assert.deepEqual(stages.current(1), [{ name: 'launch', data: { type: 'dev', stage: 'creating' } }])
})

// Small layers come within the first second; their owner saw "0 of 0" for as long as the slow one behind them took.
test('the progress of a pull is reported at most once a second, and its last state always', async () => {
  const { stages, told } = arrange()
  for (let each = 0; each < 4; each++) stages.pulling(owned, { ...pull, bytesDone: each })
  assert.deepEqual(told, ['pulling'])
  await until(() => told.length > 1)
  const stage = { stage: 'pulling', layers_done: 1, layers_total: 2, bytes_done: 3, bytes_total: 10 }
  assert.deepEqual(stages.of(owned), stage)
  await observationTime(1_100)
  assert.equal(told.length, 2)
})

test('what a pull still owed is not told when it is over', async () => {
  const { stages, told } = arrange()
  stages.pulling(owned, pull)
  stages.pulling(owned, pull)
  stages.enter(owned, { stage: 'creating' })
  await observationTime(1_100)
  assert.deepEqual(told, ['pulling', 'creating'])
})

test('what is finished is forgotten after a minute, a failure after ten, what is under way is not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { stages } = arrange()
  stages.enter(owned, { stage: 'ready' })
  stages.enter({ userId: 2, type: 'dev' }, { stage: 'creating' })
  stages.enter({ userId: 3, type: 'dev' }, failedStage(new Error('for a reason')))
  const known = () => [1, 2, 3].map((userId) => stages.current(userId).length)
  t.mock.timers.tick(61_000)
  assert.deepEqual(known(), [0, 1, 1])
  t.mock.timers.tick(540_000)
  assert.deepEqual(known(), [0, 1, 0])
})

// After an unblock the page of a class still called what had been starting failed, "This container is blocked", for ten minutes.
test('a launch that a block ended is told to open pages, and is not remembered past the block', () => {
  const { stages, told } = arrange()
  for (const refusal of [refusals.containerBlocked(null), refusals.userBlockedFromContainers(null)])
    stages.enter(owned, failedStage(refusal))
  assert.deepEqual(told, ['failed', 'failed'])
  assert.deepEqual(stages.current(1), [])
})

test('of 600 failures the last 500 are remembered: each may keep many lines', () => {
  const { stages } = arrange()
  for (let userId = 1; userId <= 600; userId++)
    stages.enter({ userId, type: 'dev' }, failedStage(new Error('for a reason')))
  assert.deepEqual([stages.current(100), stages.current(101).length], [[], 1])
})

test('what ended before its app could be waited for is neither waited for nor called ready', () => {
  const told: string[] = []
  const stages = new LaunchProgress({
    publish: (_, { data }) => void told.push(String(data.stage)),
    hasListener: () => true,
    hasExited: () => true,
    readinessTarget: () => undefined,
    onExited: () => void told.push('ended'),
  })
  for (const app of [undefined, { host: '127.0.0.1', port: 1 }]) stages.started(owned, app)
  assert.deepEqual(told, ['waiting', 'ended', 'waiting', 'ended'])
})

test('a start that waits says for what, and a pull of which nothing is known has no numbers', () => {
  assert.deepEqual(waitStage('node'), { stage: 'starting', waits_for: 'node' })
  assert.deepEqual(waitStage('volume'), { stage: 'starting', waits_for: 'volume' })
  assert.deepEqual(waitStage('none'), { stage: 'starting' })
  const none = { layers_done: 0, layers_total: 0, bytes_done: 0, bytes_total: 0 }
  assert.deepEqual(waitStage('image'), { stage: 'pulling', ...none })
})
