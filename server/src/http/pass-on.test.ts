import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer, request, type IncomingMessage, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { PassOn, readerSession } from './pass-on.ts'

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

const at = (ms: number) => ({ now: new Date(ms) }) as FastifyRequest
const claims = {
  userId: 1,
  jti: 'e.1',
  sid: 's1',
  isRenewable: true,
  issuedAt: new Date(0),
  expiresAt: new Date(1_000),
  acting: null,
}
const sessionWith = (more: Partial<typeof claims> | { acting: string }, via: Session['via'] = 'cookie') =>
  ({ claims: { ...claims, ...more }, via, token: '', user: undefined }) as Session

function scene(isRenewed = true) {
  const uses: [string, number][] = []
  const { renewal, apiTokens } = readerSession({ noteUse: (...use) => void uses.push(use) }, { isRenewed })
  return { keep: (session: Session, ms: number) => renewal.keep(session, at(ms), {} as FastifyReply), apiTokens, uses }
}

test('a reader notes the use of a session whose token lasts', async () => {
  const { keep, uses } = scene()
  await keep(sessionWith({}), 400)
  assert.deepEqual(uses, [['s1', 400]])
})

test('what has to be written because of a session is the leader to answer', async () => {
  const { keep, apiTokens, uses } = scene()
  await assert.rejects(keep(sessionWith({}), 501), /a token is renewed/)
  await assert.rejects(keep(sessionWith({ acting: '7' }), 1), /a takeover/)
  await assert.rejects(apiTokens.authenticate('t', '', new Date()), /an API token/)
  assert.deepEqual(uses, [])
})

test('a token that is not renewed is answered to its end: in a header, of no session, or where sessions end with it', async () => {
  const { keep, uses } = scene()
  await keep(sessionWith({}, 'header'), 900)
  await keep(sessionWith({ isRenewable: false }), 900)
  await scene(false).keep(sessionWith({}), 900)
  assert.equal(uses.length, 2)
})
