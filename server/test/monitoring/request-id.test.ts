import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '../support/api-calls.ts'
import { startBerth, type Berth, type Reply } from '../support/berth.ts'
import { pollUntil } from '../support/control-plane.ts'
import { get } from '../support/gateway/raw-client.ts'
import { rawCall } from '../support/raw-request.ts'

/** One id leads from an answer to every line of the log about its request, those about calls to the engine included. */

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const berth = await startBerth({ after })
const behind = await startBerth({ after }, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
const ann = await berth.signUp('ann@x.org')

interface Line {
  readonly request_id?: string
  readonly engine?: string
  readonly task?: string
  readonly msg: string
}
const linesOf = ({ logs }: Berth) => logs.map((line) => JSON.parse(line) as Line)
const idOf = ({ headers }: Pick<Reply, 'headers'>) => headers.get('x-request-id') ?? ''

test('every answer of API, front end and gateway has an id of its own; the body of a refusal stays {error}', async () => {
  const replies = await Promise.all(
    ['/api/user/me', '/api/nothing', '/', '/healthz', '/%', '/missing-dev/', '/bob-dev/x?y'].map((path) =>
      berth.call('GET', path),
    ),
  )
  for (const reply of replies) assert.match(idOf(reply), uuid)
  assert.equal(new Set(replies.map(idOf)).size, replies.length)
  assert.deepEqual(Object.keys(replies[0]?.body), ['error'])
})

test('a launch: its log lines, also of the calls to the engine, have the id of its answer, and no others have it', async () => {
  const eve = await berth.signUpWithoutContainer('eve@x.org')
  const [one, two] = await Promise.all([
    ann.call('POST', '/api/container/launch/prod'),
    eve.call('POST', '/api/container/launch/prod'),
  ])
  assertOk(one)
  assertOk(two)
  const lines = linesOf(berth)
  const engineCalls = (reply: Reply) =>
    lines.flatMap(({ request_id: id, engine }) => (id === idOf(reply) && engine ? [engine] : []))
  assert.ok(
    engineCalls(one).some((call) => call === `create ${berth.installation}-ann-prod`),
    engineCalls(one).join(),
  )
  assert.ok(engineCalls(one).some((call) => call.startsWith('start ')))
  assert.ok(engineCalls(two).some((call) => call === `create ${berth.installation}-eve-prod`))
  assert.ok(
    !engineCalls(one).some((call) => call.includes('eve')) && !engineCalls(two).some((call) => call.includes('ann')),
  )
})

test('a request that wakes a container: the lines of the start have its id', async () => {
  const path = `/${ann.slug}-dev/`
  await pollUntil(
    async () => (await ann.call('GET', path)).status === 200,
    () => 'no app',
  )
  assertOk(await ann.call('POST', '/api/container/stop/dev'))
  const before = berth.logs.length
  const headers = { authorization: `Bearer ${ann.token}`, accept: 'text/html' }
  await pollUntil(
    async () => (await get(berth.app.port, path, { headers })).status === 200,
    () => 'it is not woken',
  )
  const woken = await ann.call('GET', path)
  const started = linesOf(berth)
    .slice(before)
    .filter(({ engine }) => engine?.startsWith('start '))
  assert.equal(started.length, 1)
  assert.match(started[0]?.request_id ?? '', uuid)
  assert.equal(woken.headers.get('x-request-id'), null, 'the answer of an app is passed on as it is')
})

test('work of the reconciler has no id, although a request asked for it', async () => {
  const tasks = linesOf(berth).filter(({ task }) => task !== undefined)
  assert.deepEqual(
    tasks.filter(({ request_id: id }) => id !== undefined),
    [],
  )
})

test('the id of a client is believed behind TRUSTED_PROXIES alone, and only in its form', async () => {
  const ask = async (to: Berth, id: string) => {
    const { headers } = await rawCall(to, 'GET', '/api/user/me', { 'X-Request-Id': id })
    return String(headers['x-request-id'])
  }
  assert.equal(await ask(behind, 'b2c4-from.the_proxy'), 'b2c4-from.the_proxy')
  for (const id of [
    'short',
    'x'.repeat(129),
    'with space',
    'quote"quote',
    'a,b,c,d,e,f',
    '{"level":60}',
    'ü'.repeat(8),
  ])
    assert.match(await ask(behind, id), uuid, id)
  assert.match(await ask(berth, 'b2c4-from-a-client'), uuid)
  assert.ok(!berth.logs.join('').includes('from-a-client'))
  for (const name of ['X-Berth-Request-Id', 'x_berth_request_id', 'X.Berth.Request.Id'])
    assert.match(
      String((await rawCall(berth, 'GET', '/healthz', { [name]: 'from-a-client' })).headers['x-request-id']),
      uuid,
    )
})
