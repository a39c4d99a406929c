import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { exchange, get } from '#test/support/gateway/raw-client.ts'
import { httpApp, plainApp } from '#test/support/gateway/test-apps.ts'

const saying = (words: string) => httpApp((_, response) => response.end(words))

/** A gateway of a follower, whose reader answers one path. */
async function startFollower(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-reader-'))
  const socket = path.join(folder, 'reader.sock')
  const reader = saying('reader')
  reader.listen(socket)
  await once(reader, 'listening')
  t.after(async () => {
    reader.close()
    await rm(folder, { recursive: true })
  })
  const harness = await startGatewayHarness(t, plainApp(), { platform: saying('leader') })
  const { gateway, settings, control } = harness
  const serve = (more: object) =>
    gateway.serve({ ...settings, reader: { socket, paths: ['/api/user/me'] }, ...more }, control)
  await serve({})
  return { ...harness, serve }
}

test("a follower's gateway sends its reader the requests that it may answer, and the leader all others", async (t) => {
  const { port } = await startFollower(t)
  const from = async (target: string) => (await get(port, target)).body
  assert.equal(await from('/api/user/me'), 'reader')
  assert.equal(await from('/api/user/me?a=1'), 'reader')
  for (const target of ['/api/user/me/', '/api/user/%6de', '/API/user/me', '/api/user/containers', '/'])
    assert.equal(await from(target), 'leader', target)
  const other = async (method: string, more = '') => {
    const answer = await exchange(
      port,
      `${method} /api/user/me HTTP/1.1\r\nhost: spawner.test\r\nconnection: close\r\n${more}`,
    )
    return /(reader|leader)$/.exec(answer)?.[1]
  }
  assert.equal(await other('GET', '\r\n'), 'reader')
  assert.equal(await other('POST', 'content-length: 0\r\n\r\n'), 'leader')
  assert.equal(await other('GET', 'content-length: 2\r\n\r\nhi'), 'leader', 'a body')
})

test('a gateway whose state counts no more asks no reader, and one that leads has none', async (t) => {
  const { port, gateway, settings, control, serve } = await startFollower(t)
  control.confirmState = () => Promise.reject(new Error('no leader'))
  await serve({ maxStateAge: 0 })
  assert.equal((await get(port, '/api/user/me')).body, 'leader')
  await gateway.serve(settings, control)
  assert.equal((await get(port, '/api/user/me')).body, 'leader')
})
