import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { operatorHeader } from '#/http/operator-socket.ts'
import { unixFetch } from '@berth/cli/find-service.ts'
import { readPidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startBerth } from '#test/support/berth.ts'
import { noCreateRuntime } from '#test/support/engine/faulty-runtimes.ts'
import { runProgram, waitFor } from '#test/support/program.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const user = await berth.signUp('ann@x.org')

test('by the operator socket administration needs no account, and the audit log names the operator', async () => {
  assertOk(await berth.operate('POST', `/api/admin/users/${user.id}/block`))
  const { email, address } = await berth.database.db
    .selectFrom('audit_log')
    .select(['actor_email as email', 'actor_id as address'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  assert.deepEqual({ email, address }, { email: 'operator root', address: null })
  assertOk(await berth.operate('POST', `/api/admin/users/${user.id}/unblock`))
})

test('whatever is sent through the gateway, or past it to the socket that it forwards to, is never the operator', async () => {
  const spoofs = [
    { [operatorHeader]: 'operator root' },
    { 'X-Berth-Operator': 'operator root', 'x-forwarded-for': '127.0.0.1', host: 'localhost' },
    { forwarded: 'for=unix;by=operator', [operatorHeader]: 'operator root' },
  ]
  for (const headers of spoofs) {
    const pastTheGateway = unixFetch(berth.apiSocket, { headers, timeout: 20_000 })
    assert.equal((await pastTheGateway('/api/admin/users')).status, 401)
    assert.equal((await pastTheGateway('/api/operator/links', { method: 'POST' })).status, 404)
    assertRefused(await berth.call('GET', '/api/admin/users', { headers }), 401)
    assertRefused(await berth.call('GET', '/api/admin/users', { headers, token: user.token }), 403)
    assertOk(await berth.call('POST', `/api/admin/users/${user.id}/block`, { headers, token: admin.token }))
    assertOk(await berth.call('POST', `/api/admin/users/${user.id}/unblock`, { headers, token: admin.token }))
  }
  const actors = await berth.database.db.selectFrom('audit_log').select('actor_email').execute()
  assert.equal(actors.filter(({ actor_email }) => actor_email.startsWith('operator')).length, 2, 'of the test above')
})

test('the operator has no account: what is for one is refused with 401, and a name that is none is plain operator', async () => {
  assertRefused(await berth.operate('GET', '/api/user/me'), 401)
  const headers = { [operatorHeader]: 'Boss <boss@x.org>' }
  assertOk(await berth.operate('POST', `/api/admin/users/${user.id}/block`, { headers }))
  const [last] = await berth.database.db.selectFrom('audit_log').selectAll().orderBy('id', 'desc').limit(1).execute()
  assert.equal(last?.actor_email, 'operator')
  assertOk(await berth.operate('POST', `/api/admin/users/${user.id}/unblock`))
})

test('the file that says where the socket is names a live one also after SIGHUP and a crash, and goes at a clean stop', async (t) => {
  const program = runProgram(t)
  await program.said(/Berth is ready/)
  const first = readPidFile(program.dataDir)
  assert.ok(first)
  assert.equal(first.pid, program.process.pid)
  for (const file of [path.join(program.dataDir, 'operator-socket'), first.socket])
    assert.equal(statSync(file).mode & 0o777, 0o600, file)
  assert.equal(statSync(path.dirname(first.socket)).mode & 0o777, 0o700)
  const isAnswering = async () => {
    const ask = unixFetch(first.socket, { headers: {}, timeout: 20_000 })
    return (await ask('/api/admin/system').catch(() => undefined))?.status === 200
  }
  assert.ok(await isAnswering())
  for (const signal of ['SIGHUP', 'SIGKILL'] as const) {
    const api = program.api()
    process.kill(signal === 'SIGHUP' ? first.pid : api, signal)
    await waitFor(`another API process after ${signal}`, async () => hasOther(api) && (await isAnswering()), 60_000)
    assert.deepEqual(readPidFile(program.dataDir), first)
  }
  program.process.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
  assert.equal(readPidFile(program.dataDir), undefined)
  assert.throws(() => readFileSync(path.join(program.dataDir, 'operator-socket')), /ENOENT/)

  function hasOther(api: number): boolean {
    try {
      return program.api() !== api
    } catch {
      return false
    }
  }
})
