import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { pollUntil } from '#test/support/control-plane.ts'
import { startGatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { echoApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, annToken } from '#test/support/gateway/tokens.ts'
import { refuseSecrets } from '#test/support/no-secrets.ts'
import { startTraceReceiver, type TraceReceiver } from '#test/support/trace-receiver.ts'

/** What the gateway says of requests in traces, and what it passes on. */

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

async function startTraced(t: TestContext, changes: HarnessOptions = {}, ratio = 1) {
  const receiver = await startTraceReceiver(t)
  const tracing = { endpoint: receiver.url, headers: { authorization: 'Api-Token x' }, serviceName: 'berth', ratio }
  const harness = await startGatewayHarness(t, echoApp(), { ...changes, settings: { tracing } })
  return { receiver, harness, port: harness.port }
}

/** All spans that have ended are with the receiver. */
const flushed = (harness: { gateway: { close(limit: number): Promise<void> } }) => harness.gateway.close(1_000)

const echoed = ({ body }: { readonly body: string }) => (JSON.parse(body) as Echo).headers

test('a request to a container goes on the trace of its client, and the container gets a part of that', async (t) => {
  const { receiver, harness, port } = await startTraced(t)
  const answer = await get(port, '/ann-dev/x?token=of-the-app', { headers: { ...ann, traceparent } })
  await flushed(harness)
  const [span] = receiver.spans
  assert.equal(receiver.spans.length, 1)
  assert.ok(span)
  assert.equal(span.traceId, traceId)
  assert.equal(span.parentSpanId, 'b7ad6b7169203331')
  assert.equal(echoed(answer)['traceparent'], `00-${traceId}-${span.spanId}-01`)
  assert.equal(span.name, 'GET /ann-dev')
  assert.equal(span.attributes['http.response.status_code'], '200')
  assert.equal(span.attributes['berth.answered_by'], 'app')
  assert.deepEqual(span.resource, { 'service.name': 'berth', 'berth.process': 'gateway' })
  assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
  const seconds = Number(BigInt(span.startTimeUnixNano) / 1_000_000_000n)
  assert.ok(Math.abs(seconds - Date.now() / 1_000) < 600, span.startTimeUnixNano)
  const [sent] = receiver.requests
  assert.equal(sent?.path, '/v1/traces')
  assert.equal(sent?.authorization, 'Api-Token x')
})

test('no address, no query and no token is in a span', async (t) => {
  const { receiver, harness, port } = await startTraced(t, { platform: echoApp() })
  await get(port, '/ann-dev/files/s3cret-path?token=s3cret-query', { headers: { ...ann, cookie: 'a=s3cret-cookie' } })
  await get(port, '/api/auth/verify-login?token=s3cret-link')
  await get(port, '/join/s3cret-code')
  await get(port, '/ann-dev/', { headers: ann, method: 'S3CRET' })
  await flushed(harness)
  assert.equal(receiver.spans.length, 4)
  const text = receiver.requests.map(({ body }) => body).join()
  assert.doesNotMatch(text, /s3cret/i)
  refuseSecrets(text, [annToken])
})

test('a header of another form begins a trace of its own; the API gets the same part as a container would', async (t) => {
  const { receiver, harness, port } = await startTraced(t, { platform: echoApp() })
  const headers = { traceparent: '00-0000-zz-01' }
  const answer = await get(port, '/api/user/me', { headers })
  await flushed(harness)
  const [span] = receiver.spans
  assert.equal(span?.parentSpanId, undefined)
  assert.equal(echoed(answer)['traceparent'], `00-${span?.traceId}-${span?.spanId}-01`)
})

test('what is not sampled is not sent, and says so to the container', async (t) => {
  const { receiver, harness, port } = await startTraced(t, {}, 0)
  const own = await get(port, '/ann-dev/', { headers: ann })
  assert.match(String(echoed(own)['traceparent']), /-00$/)
  const unsampled = await get(port, '/ann-dev/', { headers: { ...ann, traceparent: traceparent.replace(/01$/, '00') } })
  assert.match(String(echoed(unsampled)['traceparent']), new RegExp(`^00-${traceId}-.*-00$`))
  await get(port, '/ann-dev/', { headers: { ...ann, traceparent } })
  await flushed(harness)
  assert.deepEqual(
    receiver.spans.map((span) => span.traceId),
    [traceId],
  )
})

test('without traces the header reaches a container as it was sent, and the API not at all', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const headers = { ...ann, traceparent }
  assert.equal(echoed(await get(port, '/ann-dev/', { headers }))['traceparent'], traceparent)
  assert.equal(echoed(await get(port, '/api/user/me', { headers }))['traceparent'], undefined)
})

test('a receiver that refuses is reported once, what it did not take is counted, and requests are served', async (t) => {
  const { receiver, harness, port } = await startTraced(t)
  Object.assign(receiver, { status: 503 } satisfies Partial<TraceReceiver>)
  // As many as one message has: they are sent at once.
  const ask = () => get(port, '/ann-dev/', { headers: ann })
  const dropped = async () => (await harness.gateway.counts())['berth_spans_dropped_total{process="gateway"}'] ?? 0
  for (let round = 0; round < 52; round++) await Promise.all(Array.from({ length: 10 }, ask))
  await pollUntil(
    async () => (await dropped()) >= 512,
    () => 'nothing was dropped',
  )
  assert.deepEqual(harness.calls.reports, ['spans cannot be sent: status 503'])
  assert.equal((await ask()).status, 200)
})
