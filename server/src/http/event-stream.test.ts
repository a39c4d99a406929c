import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import fastify from 'fastify'
import { pollUntil } from '#test/support/control-plane.ts'
import { sendEventStream, type EventSink, type EventStream } from './event-stream.ts'

const line = { name: 'line', data: { text: 'x'.repeat(1_000) } }

interface Seen {
  /** How often the source was told to end. */
  stops: number
}

/** A stream with this source. */
async function openStream(
  t: TestContext,
  run: (sink: EventSink, seen: Seen) => void,
  endsAt = new Date(Date.now() + 60_000),
) {
  const seen = { stops: 0 }
  const begin: EventStream['begin'] = (sink) => {
    run(sink, seen)
    return () => void seen.stops++
  }
  const server = fastify()
  server.get('/', (_request, reply) => sendEventStream(reply, { endsAt, begin }))
  await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  const { port } = server.server.address() as AddressInfo
  const asked = request({ port, host: '127.0.0.1', agent: false }).end()
  asked.on('error', () => undefined)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  answer.on('error', () => undefined)
  return { answer, seen, close: () => asked.destroy() }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return text
}

test('events are sent with their ids, before them when a browser is to come back', async (t) => {
  const { answer } = await openStream(t, (sink) => {
    void sink.send([{ id: 'a-1', name: 'note', data: { text: 'two\nlines' } }])
    void sink.send([{ name: 'end', data: {} }])
    sink.end()
  })
  const blocks = ['retry: 2000', 'id: a-1\nevent: note\ndata: {"text":"two\\nlines"}', 'event: end\ndata: {}']
  assert.equal(await textOf(answer), blocks.map((block) => `${block}\n\n`).join(''))
})

test('a source that waits for its reader is slowed by one who does not read, and told when they go', async (t) => {
  let sent = 0
  const { seen, close } = await openStream(t, async (sink, its) => {
    for (; its.stops === 0; sent++) await sink.send([line])
  })
  // What the connection takes in by itself is some megabytes at most; then nothing more is asked for.
  let before = -1
  await pollUntil(
    async () => {
      const isStill = sent === before
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 200))
      return isStill && sent === before
    },
    () => `${sent} lines were sent without a client`,
  )
  assert.ok(sent < 64_000, `${sent} lines`)
  assert.equal(seen.stops, 0)
  close()
  await pollUntil(
    () => seen.stops === 1,
    () => 'the source was not told',
  )
})

test('a source that does not wait loses a reader who is too slow, and only once', async (t) => {
  const { answer, seen } = await openStream(t, (sink) => {
    const timer = setInterval(() => {
      for (let n = 0; n < 1_000; n++) void sink.send([line])
    }, 1)
    t.after(() => clearInterval(timer))
  })
  await pollUntil(
    () => seen.stops === 1,
    () => 'the stream goes on',
  )
  // What was sent before still arrives, whole.
  const text = await textOf(answer)
  assert.ok(text.endsWith('}\n\n'), text.slice(-50))
  assert.equal(seen.stops, 1)
})

test('a stream ends when its time is over, and its source is ended', async (t) => {
  const { answer, seen } = await openStream(t, () => undefined, new Date(Date.now() + 100))
  await textOf(answer)
  assert.equal(seen.stops, 1)
})

test('a reader who has gone before the stream begins is noticed', async (t) => {
  const seen = { stops: 0 }
  const [isAsked, isGone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const server = fastify()
  server.get('/', async (request, reply) => {
    request.raw.once('close', () => isGone.resolve())
    isAsked.resolve()
    await isGone.promise
    return sendEventStream(reply, { endsAt: new Date(Date.now() + 60_000), begin: () => () => void seen.stops++ })
  })
  await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  const asked = request({ port: (server.server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).end()
  asked.on('error', () => undefined)
  await isAsked.promise
  asked.destroy()
  await pollUntil(
    () => seen.stops === 1,
    () => 'the source goes on without a client',
  )
})
