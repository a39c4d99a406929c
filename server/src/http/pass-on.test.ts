import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { PassOn } from './pass-on.ts'

/** @returns sends a request to what passes all on to this listener */
async function passingTo(t: TestContext, handle: RequestListener) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-pass-on-'))
  const [near, far] = ['near', 'far'].map((name) => path.join(folder, name)) as [string, string]
  const passOn = new PassOn(far)
  const leader = createServer(handle)
  const passing = createServer((...both) => void passOn.pass(...both))
  for (const [server, place] of [
    [leader, far],
    [passing, near],
  ] as const)
    await once(server.listen(place), 'listening')
  t.after(async () => {
    passOn.close()
    for (const server of [leader, passing]) {
      server.close()
      server.closeAllConnections()
    }
    await rm(folder, { recursive: true })
  })
  const ask = async (headers = {}): Promise<IncomingMessage> => {
    const asked = request({ socketPath: near, path: '/api/user/me?a=1', headers }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return answer
  }
  return { ask, leader }
}

test('a request is passed on with its headers, and its answer comes back with all of its own', async (t) => {
  const { ask } = await passingTo(t, (asked, answer) => {
    const { host, cookie, connection } = asked.headers
    answer.writeHead(401, { 'set-cookie': ['a=1', 'b=2'], 'x-request-id': '7' })
    answer.end(JSON.stringify([asked.method, asked.url, host, cookie, connection]))
  })
  const answer = await ask({ host: 'berth.test', cookie: 'a=b', connection: 'close' })
  assert.equal(answer.statusCode, 401)
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2'])
  assert.equal(answer.headers['x-request-id'], '7')
  assert.deepEqual(JSON.parse(await text(answer)), ['GET', '/api/user/me?a=1', 'berth.test', 'a=b', 'keep-alive'])
})

test('a request whose connection ends without an answer, as in a takeover, is sent again', async (t) => {
  let asked = 0
  const { ask } = await passingTo(t, ({ socket }, answer) => {
    if (++asked < 3) socket.destroy()
    else answer.end('here')
  })
  assert.equal(await text(await ask()), 'here')
  assert.equal(asked, 3)
})

test('an answer is passed on as it comes, and cut when it is cut', async (t) => {
  const { ask, leader } = await passingTo(t, (_, answer) => void answer.write('first'))
  const answer = await ask()
  const [chunk] = (await once(answer, 'data')) as [Buffer]
  assert.equal(chunk.toString(), 'first')
  const cut = once(answer, 'error')
  leader.closeAllConnections()
  await cut
})
