import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { auditDetail } from '../../support/audit-detail.ts'
import { deleteUser } from '#/store/users.ts'
import { assertOk, assertRefused, blockContainer, engineState, instant, recordOf } from '../../support/api-calls.ts'
import { unblockContainer, until } from '../../support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '../../support/berth.ts'
import { stopReasonOf } from '../../support/event-stream.ts'
import { noStopRuntime, type Fault } from '../../support/engine/faulty-runtimes.ts'

const command = ['/bin/sh', '-c', 'echo one; echo two; while :; do sleep 0.1; done']
const CONTAINER_TEMPLATES = await testTemplates({ command })
const berth = await startBerth({ after }, { env: { ADMIN_EMAILS: 'deputy@x.org', CONTAINER_TEMPLATES } })
const admin = await berth.administrator()
const auditOf = async (target: string) =>
  berth.database.db.selectFrom('audit_log').selectAll().where('target', '=', target).orderBy('id').execute()
const bulk = (verb: 'block' | 'unblock', body?: unknown) =>
  admin.call('POST', `/api/admin/containers/bulk-${verb}`, { body })

async function personWithContainer(name: string): Promise<{ person: Person; id: number; container: string }> {
  const person = await berth.signUp(`${name}@x.org`)
  const { id, container_id } = await recordOf(admin, person.id)
  return { person, id, container: container_id ?? '' }
}

async function personWithRecord(name: string): Promise<{ person: Person; id: number }> {
  const person = await berth.signUpWithoutContainer(`${name}@x.org`)
  return { person, id: (await recordOf(admin, person.id)).id }
}

test('blocking a container sets is_blocked, blocked_at and blocked_by, stops it, and writes to the audit log', async () => {
  const { person, id, container } = await personWithContainer('ann')
  const before = Date.now()
  const reply = await blockContainer(admin, id)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body).sort(), ['container', 'message'])
  const { is_blocked, blocked_at, blocked_by } = reply.body.container
  assert.deepEqual([is_blocked, blocked_by], [true, admin.id])
  assert.match(blocked_at, instant)
  assert.ok(Date.parse(blocked_at) >= before)
  assert.equal(await engineState(berth, container), 'exited')
  const [entry] = await auditOf(`container:${id}`)
  assert.deepEqual([entry?.action, entry?.actor_id, entry?.actor_email], ['container.block', admin.id, 'boss@x.org'])
  assert.deepEqual(await auditDetail(berth.database.db, entry), {
    user: person.id,
    type: 'dev',
    before: { is_blocked: false, blocked_at: null, blocked_by: null },
    after: { is_blocked, blocked_at, blocked_by },
    address: '127.0.0.1',
  })
})

test('an administrator stops a container without blocking it, and its owner launches it again', async () => {
  const { person, id, container } = await personWithContainer('amy')
  const path = `/api/admin/containers/${id}/stop`
  assertRefused(await person.call('POST', path), 403)
  assertOk(await admin.call('POST', path))
  assert.equal(await engineState(berth, container), 'exited')
  const [entry] = await auditOf(`container:${id}`)
  assert.deepEqual([entry?.action, entry?.actor_email], ['container.stop', 'boss@x.org'])
  assertOk(await person.call('POST', '/api/container/launch/dev'))
  assert.equal(await engineState(berth, container), 'running')
})

test('an administrator restarts a container: a new one runs, and its owner finds in their own data who did it', async () => {
  const { person, id, container } = await personWithContainer('ada')
  const path = `/api/admin/containers/${id}/restart`
  assertRefused(await person.call('POST', path), 403)
  assertRefused(await admin.call('POST', '/api/admin/containers/999999/restart'), 404)
  assertOk(await admin.call('POST', path))
  await until(async () => {
    const { container_id: now } = await recordOf(admin, person.id)
    return now !== container && now !== null && (await engineState(berth, now)) === 'running'
  })
  const [entry] = await auditOf(`container:${id}`)
  assert.deepEqual([entry?.action, entry?.actor_email], ['container.restart', 'boss@x.org'])
  assert.deepEqual(await ownHistory(person, `container:${id}`), [['container.restart', false, 'dev']])
  assertOk(await blockContainer(admin, id))
  assertRefused(await admin.call('POST', path), 409)
})

test('a restart by an administrator is refused for an owner who is blocked', async () => {
  const { person, id } = await personWithRecord('abe')
  assertOk(await admin.call('POST', `/api/admin/users/${person.id}/block`))
  assertRefused(await admin.call('POST', `/api/admin/containers/${id}/restart`), 409)
  assert.equal((await auditOf(`container:${id}`)).length, 0)
})

test('an administrator reads the last lines of a container, and its owner finds in their own data that it was read', async () => {
  const { person, id } = await personWithContainer('alf')
  const path = `/api/admin/containers/${id}/logs`
  assertRefused(await person.call('GET', path), 403)
  assertRefused(await admin.call('GET', '/api/admin/containers/999999/logs'), 404)
  assertRefused(await admin.call('GET', `${path}?lines=1001`), 400)
  await until(async () => (await admin.call('GET', path)).body.lines.includes('two'))
  const { body } = await admin.call('GET', `${path}?lines=1`)
  assert.deepEqual(body, { lines: ['two'] })
  const [first] = await ownHistory(person, `container:${id}`)
  assert.deepEqual(first, ['container.read-logs', false, 'dev'])
})

/** What a user's own data say was done to a container: the action, whether by themselves, and its type. */
async function ownHistory(person: Person, target: string): Promise<unknown[]> {
  const { body } = await person.call('GET', '/api/user/data')
  return body.audit_entries
    .filter((each: { target: string }) => each.target === target)
    .map((each: { action: string; is_own: boolean; detail: { type: string } }) => [
      each.action,
      each.is_own,
      each.detail.type,
    ])
}

test('unblocking clears is_blocked, blocked_at and blocked_by, starts nothing, and writes to the audit log', async () => {
  const { person, id, container } = await personWithContainer('ben')
  assertOk(await blockContainer(admin, id))
  const reply = await unblockContainer(admin, id)
  assertOk(reply)
  const { is_blocked, blocked_at, blocked_by } = reply.body.container
  assert.deepEqual([is_blocked, blocked_at, blocked_by], [false, null, null])
  assert.equal(await engineState(berth, container), 'exited')
  assert.equal(await stopReasonOf(berth, person.token), 'block')
  assert.deepEqual(
    (await auditOf(`container:${id}`)).map(({ action }) => action),
    ['container.block', 'container.unblock'],
  )
})

test('blocking twice is 200 and keeps the first blocked_at and blocked_by; unblocking twice is 200; each is one change in the audit log', async () => {
  const { id } = await personWithRecord('cat')
  const deputy = await berth.signUpWithoutContainer('deputy@x.org')
  const first = await blockContainer(admin, id)
  const second = await blockContainer(deputy, id)
  assertOk(second)
  assert.deepEqual(second.body.container, first.body.container)
  for (let time = 1; time <= 2; time++) assertOk(await unblockContainer(admin, id))
  const [block, unblock, ...more] = await auditOf(`container:${id}`)
  assert.deepEqual([block?.action, unblock?.action, more.length], ['container.block', 'container.unblock', 0])
  const { before, after: later } = JSON.parse(unblock?.detail ?? '')
  assert.deepEqual([before.blocked_by, later.blocked_by], [admin.id, null])
})

test('a record that does not exist is 404 at block and unblock', async () => {
  assertRefused(await blockContainer(admin, 999_999), 404)
  assertRefused(await unblockContainer(admin, 999_999), 404)
})

test('bulk-block does the same to each listed container, and bulk-unblock undoes it', async () => {
  const [one, two] = [await personWithContainer('dan'), await personWithContainer('eve')]
  const ids = [one.id, two.id]
  const blocked = await bulk('block', { container_ids: ids })
  assertOk(blocked)
  assert.deepEqual(Object.keys(blocked.body).sort(), ['containers', 'message', 'not_found'])
  for (const each of blocked.body.containers) {
    assert.deepEqual([each.is_blocked, each.blocked_by], [true, admin.id])
    assert.match(each.blocked_at, instant)
    assert.equal((await auditOf(`container:${each.id}`)).length, 1)
  }
  for (const { container } of [one, two]) assert.equal(await engineState(berth, container), 'exited')
  const unblocked = await bulk('unblock', { container_ids: ids })
  for (const { is_blocked, blocked_at, blocked_by } of unblocked.body.containers)
    assert.deepEqual([is_blocked, blocked_at, blocked_by], [false, null, null])
  for (const id of ids) assert.equal((await auditOf(`container:${id}`)).length, 2)
})

test('a bulk list names each container once, does the known ones, and says which are unknown', async () => {
  const { id } = await personWithRecord('fay')
  for (const verb of ['block', 'unblock'] as const) {
    const { body } = await bulk(verb, { container_ids: [id, 999_999, id] })
    assert.deepEqual(
      body.containers.map((each: { id: number }) => each.id),
      [id],
    )
    assert.deepEqual(body.not_found, [999_999])
  }
})

test('a bulk list that is missing, empty, too long or no list of ids is 400 and blocks nothing', async () => {
  const { id, person } = await personWithRecord('gus')
  const tooLong = Array.from({ length: 1001 }, (_, index) => index + 1)
  const bodies = [undefined, {}, [], null, { container_ids: id }, { container_ids: [] }, { container_ids: tooLong }]
  for (const body of [...bodies, { container_ids: ['x'] }, { container_ids: [id, null] }, { container_ids: [1.5] }])
    for (const verb of ['block', 'unblock'] as const) assertRefused(await bulk(verb, body), 400)
  const { body } = await bulk('block', { container_ids: tooLong.slice(0, 1000).map((each) => each + 100_000) })
  assert.equal(body.not_found.length, 1000)
  assert.equal((await recordOf(admin, person.id)).is_blocked, false)
})

test('a block holds although the engine fails to stop the container, and the stop is tried again until it happens', async (t) => {
  const stubbornness: Fault = { active: true }
  const first = await startBerth(t, { wrapRuntime: (runtime) => noStopRuntime(runtime, stubbornness) })
  const boss = await first.signUp('boss@x.org')
  const { id, container_id } = await recordOf(boss, boss.id)
  const reply = await blockContainer(boss, id)
  assertOk(reply)
  assert.equal(reply.body.container.is_blocked, true)
  assert.equal(await engineState(first, container_id ?? ''), 'running')
  assertRefused(await boss.call('POST', '/api/container/launch/dev'), 403, ['blocked_at'])
  stubbornness.active = false
  await until(async () => (await engineState(first, container_id ?? '')) === 'exited')
})

test('a block whose stop never happened before the process ended is made up for at the next start', async (t) => {
  const first = await startBerth(t, { wrapRuntime: (runtime) => noStopRuntime(runtime, { active: true }) })
  const boss = await first.signUp('boss@x.org')
  const { id, container_id } = await recordOf(boss, boss.id)
  assertOk(await blockContainer(boss, id))
  await first.close()
  const second = await startBerth(t, { dataDir: first.dataDir, installation: first.installation })
  await until(async () => (await engineState(second, container_id ?? '')) === 'exited')
})

test('blocked_by becomes null when the administrator who blocked is deleted, and the audit entry stays', async () => {
  const env = { ADMIN_EMAILS: 'other@x.org' }
  const small = await startBerth({ after }, { env })
  const [boss, other] = [await small.administrator(), await small.signUpWithoutContainer('other@x.org')]
  const { id } = await recordOf(boss, boss.id)
  assertOk(await blockContainer(other, id))
  await deleteUser(small.database.db, other.id)
  const record = await recordOf(boss, boss.id)
  assert.deepEqual([record.is_blocked, record.blocked_by], [true, null])
  const [entry] = await small.database.db.selectFrom('audit_log').selectAll().execute()
  assert.equal(entry?.actor_email, 'other@x.org')
  await small.close()
})

test('an app that does not end when it is asked to does not run any more when its block is answered', async (t) => {
  const command = ['/bin/sh', '-c', 'trap "" TERM; while :; do sleep 1; done']
  const deaf = await startBerth(t, { env: { CONTAINER_TEMPLATES: await testTemplates({ command }) } })
  const boss = await deaf.administrator()
  const person = await deaf.signUp('eve@x.org')
  const { id, container_id } = await recordOf(boss, person.id)
  assertOk(await blockContainer(boss, id))
  assert.equal(await engineState(deaf, container_id ?? ''), 'exited')
})
