import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '#/refusals/errors.ts'
import { createListener } from './listener.ts'
import { withLongBody } from './long-body.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Bodies that take their time, on a listener that gives others a moment only. */
const bodyTimeout = 100
const long = { idle: 60_000, total: 60_000, pace: { bytes: 1, time: 60_000 } }

/** @param work what the server does with each request, and answers */
async function serve(t: TestContext, work: (request: IncomingMessage) => Promise<string>): Promise<Socket> {
  const server = createListener((request, response) => {
    work(request).then(
      (said) => response.end(said),
      (error: unknown) => response.end(error instanceof Refusal ? `refused ${error.status}` : String(error)),
    )
  }, bodyTimeout).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close().closeAllConnections())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined).write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n')
  return socket
}

/** @param onText is told of all that has come until now */
async function textOf(body: AsyncIterable<Uint8Array>, onText?: (text: string) => void): Promise<string> {
  let text = ''
  for await (const part of body) {
    text += Buffer.from(part).toString('latin1')
    onText?.(text)
  }
  return text
}

async function said(socket: Socket): Promise<string> {
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString('latin1').split('\r\n').at(-1) ?? ''
}

test('a body that waits for its reader longer than other bodies may take comes whole', async (t) => {
  // The time of other bodies passed while an upload waited for its home, and the connection ended without an answer.
  const socket = await serve(t, (request) =>
    withLongBody(
      request,
      async (body) => {
        await sleep(5 * bodyTimeout)
        socket.write('rest')
        return textOf(body)
      },
      long,
    ),
  )
  assert.equal(await said(socket), 'rest')
})

test('a body of which nothing more comes is refused, and the answer arrives', async (t) => {
  for (const limits of [
    { ...long, idle: 20 },
    { ...long, total: 20 },
  ]) {
    const socket = await serve(t, (request) => withLongBody(request, (body) => textOf(body), limits))
    socket.write('re')
    assert.equal(await said(socket), 'refused 409')
  }
})

test('a sender of a byte now and then is refused before its time is over, and one that was fast in it goes on', async (t) => {
  // It kept its place, one of eight for all users, for two hours.
  const send = async (parts: string[], bytes: number) => {
    let read = ''
    const work = (body: AsyncIterable<Uint8Array>) => textOf(body, (text) => void (read = text))
    const pace = { bytes, time: 125 }
    const socket = await serve(t, (request) => withLongBody(request, work, { ...long, pace }))
    const answer = said(socket)
    let isAnswered = false
    void answer.finally(() => (isAnswered = true)).catch(() => undefined)
    let sent = ''
    for (const part of parts) {
      sent += part
      socket.write(part)
      // The pause counts when the server waits for the next part, which it does not before it has this one.
      await pollUntil(
        () => read === sent || isAnswered,
        () => `it read ${read} of ${sent}`,
      )
      await sleep(250)
    }
    return answer
  }
  assert.equal(await send(['s', 'l'], 3), 'refused 409')
  assert.equal(await send(['r', 'es', 't'], 1), 'rest')
})

test('a slow reader uses none of the time of the sender', async (t) => {
  const socket = await serve(t, (request) =>
    withLongBody(
      request,
      async (body) => {
        let text = ''
        for await (const part of body) {
          text += Buffer.from(part).toString('latin1')
          await sleep(700)
          if (text === 're') socket.write('st')
        }
        return text
      },
      { ...long, idle: 500 },
    ),
  )
  socket.write('re')
  assert.equal(await said(socket), 'rest')
})

test('a sender that goes away is a refusal, not an error of the service', async (t) => {
  const failed = Promise.withResolvers<unknown>()
  const socket = await serve(t, async (request) => {
    await withLongBody(request, (body) => textOf(body), long).catch(failed.resolve)
    return ''
  })
  socket.write('re', () => socket.destroy())
  const error = await failed.promise
  assert.ok(error instanceof Refusal && error.status === 409, String(error))
})

test('what is left unread has the time of other bodies again', async (t) => {
  const socket = await serve(t, (request) => withLongBody(request, async () => 'refused unread', long))
  assert.equal(await said(socket), 'refused unread')
  await once(socket, 'close', { signal: AbortSignal.timeout(waitLimit(20_000)) })
})
