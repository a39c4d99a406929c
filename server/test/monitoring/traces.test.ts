import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { until } from '../support/api-calls.ts'
import { startBerth } from '../support/berth.ts'
import { refuseSecrets } from '../support/no-secrets.ts'
import { startTraceReceiver, type ReceivedSpan } from '../support/trace-receiver.ts'

const newTrace = () => {
  const traceId = randomBytes(16).toString('hex')
  return { traceId, headers: { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` } }
}

/** Names of a span and of those that it is a part of, from the outside in. */
function pathOf(span: ReceivedSpan, spans: readonly ReceivedSpan[]): string[] {
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId)
  return [...(parent ? pathOf(parent, spans) : []), span.name]
}

test('a launch and a wake are traced from the gateway to the calls of the engine, and logs name the trace', async (t) => {
  const receiver = await startTraceReceiver(t)
  const berth = await startBerth(t, { env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } })
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  const [launch, wake] = [newTrace(), newTrace()]
  const launched = await ann.call('POST', '/api/container/launch/dev', { headers: launch.headers })
  assert.equal(launched.status, 200, launched.text)
  await berth.runtime.stop(launched.body.container_id)
  const address = `/${ann.slug}-dev/s3cret-path?token=s3cret-query`
  await until(async () => (await ann.call('GET', address, { headers: wake.headers })).status !== 502)
  await berth.close()

  const of = ({ traceId }: { readonly traceId: string }) => {
    const spans = receiver.spans.filter((span) => span.traceId === traceId)
    return spans.map((span) => pathOf(span, spans).join(' > '))
  }
  const request = 'POST > POST /api/container/launch/:container_type > container launch'
  for (const call of ['create', 'start'])
    assert.ok(of(launch).includes(`${request} > engine ${call}`), of(launch).join('\n'))
  const visit = `GET /${ann.slug}-dev`
  assert.ok(of(wake).includes(`${visit} > wake > container wake > engine start`), of(wake).join('\n'))
  assert.ok(berth.logs.some((line) => line.includes(`"trace_id":"${launch.traceId}"`)))
  const text = receiver.requests.map(({ body }) => body).join()
  assert.doesNotMatch(text, /s3cret|ann@x\.org/)
  refuseSecrets(text, [ann.token])
})
