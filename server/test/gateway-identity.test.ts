import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { startBerth } from './support/berth.ts'

const berth = await startBerth({ after })
const ann = await berth.signUp('ann@x.org')
const open = (authorization: string) =>
  berth.call('GET', '/ann-dev/index.html', { headers: { cookie: `spawner_token=${ann.token}`, authorization } })

test('an app may have Authorization headers of its own: the cookie says whose request it is', async () => {
  assert.equal((await open('Basic YTpi')).status, 200)
  assert.equal((await open('Bearer a-token-of-the-app')).status, 200)
})

test('a token of ours that is not valid any more is not helped by the cookie', async () => {
  const other = await berth.signUpWithoutContainer('eve@x.org')
  await other.call('POST', '/api/auth/logout')
  assert.equal((await open(`Bearer ${other.token}`)).status, 401)
})

test('a head that is too large gets a refusal that says so', async () => {
  const socket = connect(berth.app.port, '127.0.0.1')
  // More than the 64 KB that the API takes, which is more than a gateway forwards.
  socket.write(`GET /api/user/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Big: ${'x'.repeat(70_000)}\r\n\r\n`)
  const answer = Buffer.concat(await Array.fromAsync(socket)).toString()
  assert.match(answer, /^HTTP\/1\.1 431 /)
  assert.match(answer, /\{"error":"Address, headers and cookies are too large together/)
})
