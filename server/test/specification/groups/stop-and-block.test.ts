import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { stopReasonOf } from '#test/support/event-stream.ts'
import { signInAgain, startGroupBerth, type Signed } from '#test/support/group-berth.ts'

const { berth, engine, boss, signUp, group, launch } = await startGroupBerth({ after })
const [ann, ben, eva] = [await signUp('ann@x.org'), await signUp('ben@x.org'), await signUp('eva@x.org')]
const tom = await signUp('tom@x.org')
const act = (what: 'stop' | 'block' | 'unblock', id: number, by: Signed = tom) =>
  by.call('POST', `/api/groups/${id}/${what}`)
const runs = ({ id }: Signed, type: string) => engine.running.includes(`${type} of ${id}`)
const recordOf = async (user: Signed, type: string) => {
  const { users } = (await boss.call('GET', `/api/admin/users?q=${user.email}`)).body
  return users[0].containers.find((each: { container_type: string }) => each.container_type === type)
}
const launchAll = async () => {
  for (const user of [ann, ben, eva]) for (const type of ['dev', 'prod']) assertOk(await launch(user, type))
}

test("a stop stops all members' containers of the group's types, those of managers too, and nothing else; owners start them again", async () => {
  await launchAll()
  const { id } = await group({ name: 'Stops', types: ['dev'] }, [ann, ben], [tom])
  const { body } = await act('stop', id)
  assert.match(body.message, /3/)
  assert.deepEqual([runs(ann, 'dev'), runs(ben, 'dev'), runs(tom, 'dev')], [false, false, false])
  assert.deepEqual([runs(ann, 'prod'), runs(eva, 'dev')], [true, true])
  assert.equal(await stopReasonOf(berth, ann.token), 'manager')
  assertOk(await launch(ann, 'dev'))
  assertOk(await act('stop', id, boss))
  assert.equal(runs(ann, 'dev'), false)
  // An administrator manages each group and is a manager of none of them.
  assert.equal(await stopReasonOf(berth, ann.token), 'administrator')
})

test('a stop says which containers the engine did not stop, and those run on', async (t) => {
  await launchAll()
  const { id } = await group({ name: 'Stubborn', types: ['dev'] }, [ann, ben], [tom])
  engine.before = (call, spec) => {
    if (call === 'stop' && spec?.owner.userId === ben.id) throw new RuntimeError('failed', 'it does not stop')
  }
  t.after(() => (engine.before = () => undefined))
  const reply = await act('stop', id)
  assertOk(reply)
  assert.deepEqual([reply.body.stopped, reply.body.failed, reply.body.under_way], [1, 1, 0])
  assert.match(reply.body.message, /^1 container is stopped\. One could not be stopped/)
  assert.deepEqual([runs(ann, 'dev'), runs(ben, 'dev')], [false, true])
})

test("a block stops and blocks them, and an unblock releases what the group's block has blocked and no more", async () => {
  await launchAll()
  const { id } = await group({ name: 'Blocks', types: ['dev'] }, [ann, ben], [tom])
  const own = await recordOf(ben, 'dev')
  assertOk(await boss.call('POST', `/api/admin/containers/${own.id}/block`))
  assertOk(await act('block', id))
  assert.deepEqual([runs(ann, 'dev'), runs(ann, 'prod'), runs(eva, 'dev')], [false, true, true])
  assertRefused(await launch(ann, 'dev'), 403, ['blocked_at'])
  const record = await recordOf(ann, 'dev')
  assert.deepEqual([record.is_blocked, record.blocked_by], [true, tom.id])
  const again = await act('block', id)
  assertOk(again)
  assert.equal((await recordOf(ann, 'dev')).blocked_at, record.blocked_at)
  assertOk(await act('unblock', id))
  assertOk(await launch(ann, 'dev'))
  assertRefused(await launch(ben, 'dev'), 403, ['blocked_at'])
  assertOk(await boss.call('POST', `/api/admin/containers/${own.id}/unblock`))
  assertOk(await act('unblock', id))
})

test('members are listed by whether a container of the types of the group is blocked', async () => {
  await launchAll()
  const { id } = await group({ name: 'Listed', types: ['dev'] }, [eva, ben], [tom])
  const { id: prod } = await recordOf(ben, 'prod')
  const { id: dev } = await recordOf(eva, 'dev')
  for (const each of [prod, dev]) assertOk(await boss.call('POST', `/api/admin/containers/${each}/block`))
  const listed = async (query: string) => {
    const { body } = await tom.call('GET', `/api/groups/${id}/members?${query}`)
    return body.members.map(({ user }: { user: { email: string } }) => user.email)
  }
  assert.deepEqual(await listed('is_blocked=true'), [eva.email])
  assert.deepEqual(await listed('is_blocked=false'), [ben.email, tom.email])
  assertRefused(await tom.call('GET', `/api/groups/${id}/members?is_blocked=1`), 400)
  for (const each of [prod, dev]) assertOk(await boss.call('POST', `/api/admin/containers/${each}/unblock`))
})

test('an unblock releases containers of members who have left, and not those that another group has blocked', async () => {
  await launchAll()
  const one = await group({ name: 'One', types: ['dev'] }, [ann, eva], [tom])
  const two = await group({ name: 'Two', types: ['prod'] }, [ann], [tom])
  for (const { id } of [one, two]) assertOk(await act('block', id))
  assertOk(await tom.call('DELETE', `/api/groups/${one.id}/members/${eva.id}`))
  assertOk(await act('unblock', one.id))
  for (const user of [ann, eva]) assertOk(await launch(user, 'dev'))
  assertRefused(await launch(ann, 'prod'), 403, ['blocked_at'])
  assertOk(await act('unblock', two.id))
})

// A manager could undo what an administrator had decided: repeating a block changed nothing, so the group's block was
// the only one, and went with it.
test("what an administrator blocks although the group's block has blocked it stays blocked when the group is unblocked", async () => {
  await launchAll()
  const { id } = await group({ name: 'Weaker', types: ['dev'] }, [ann, ben], [tom])
  assertOk(await act('block', id))
  const { id: container, blocked_at } = await recordOf(ann, 'dev')
  for (let times = 0; times < 2; times++) assertOk(await boss.call('POST', `/api/admin/containers/${container}/block`))
  assertOk(await act('unblock', id))
  assertRefused(await launch(ann, 'dev'), 403, ['blocked_at'])
  const record = await recordOf(ann, 'dev')
  assert.deepEqual([record.blocked_at, record.blocked_by], [blocked_at, boss.id])
  assertOk(await launch(ben, 'dev'))
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=container:${container}`)).body
  const [entry, ...others] = entries.filter(({ action }: { action: string }) => action === 'container.block')
  assert.deepEqual([entry.actor.id, entry.detail.before.blocked_by, others.length], [boss.id, tom.id, 0])
  assertOk(await boss.call('POST', `/api/admin/containers/${container}/unblock`))
  assertOk(await launch(ann, 'dev'))
})

test('unblocking a user does not release what a group has blocked', async () => {
  await launchAll()
  const { id } = await group({ name: 'User', types: ['dev'] }, [ann], [tom])
  assertOk(await act('block', id))
  for (const what of ['block', 'unblock']) assertOk(await boss.call('POST', `/api/admin/users/${ann.id}/${what}`))
  assertRefused(await launch(ann, 'dev'), 403, ['blocked_at'])
  assertOk(await launch(ann, 'prod'))
  assertOk(await act('unblock', id))
})

// The container was blocked with its owner already, so the group's block left no mark on it, and went with the owner's.
test('what a group blocks while its owner is blocked stays blocked when the owner is unblocked, and the other way round', async () => {
  await launchAll()
  const { id } = await group({ name: 'Both', types: ['dev'] }, [ann, ben], [tom])
  const user = async (what: 'block' | 'unblock') =>
    assertOk(await boss.call('POST', `/api/admin/users/${ann.id}/${what}`))
  const back = async () => signInAgain(berth, ann)
  await user('block')
  assertOk(await act('block', id))
  await user('unblock')
  const free = await back()
  assertRefused(await launch(free, 'dev'), 403, ['blocked_at'])
  assert.deepEqual([runs(ann, 'dev'), (await recordOf(ann, 'dev')).is_blocked], [false, true])
  assertOk(await launch(free, 'prod'))
  await user('block')
  const unblocked = await act('unblock', id)
  assert.match(unblocked.body.message, /^2 /, 'those of ben and tom')
  assert.equal((await recordOf(ann, 'dev')).is_blocked, true)
  assertOk(await launch(ben, 'dev'))
  await user('unblock')
  assertOk(await launch(await back(), 'dev'))
})

// The second group's block left no mark on what the first had blocked, and the unblock of the first released it.
test('what two groups have blocked stays blocked until both are unblocked, or one is deleted', async () => {
  await launchAll()
  const one = await group({ name: 'First of two', types: ['dev'] }, [ann, ben], [tom])
  const two = await group({ name: 'Second of two', types: null }, [ann], [tom])
  for (const { id } of [one, two]) assertOk(await act('block', id))
  assert.match((await act('unblock', one.id)).body.message, /^1 /, 'that of ben')
  assertOk(await launch(ben, 'dev'))
  for (const user of [ann, tom]) assertRefused(await launch(user, 'dev'), 403, ['blocked_at'])
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${one.id}`)).body
  const about = (...users: Signed[]) => users.map((user) => ({ user: user.id, type: 'dev' }))
  const { containers, still_blocked } = entries[0].detail
  assert.deepEqual({ containers, still_blocked }, { containers: about(ben), still_blocked: about(ann, tom) })
  assertOk(await act('unblock', two.id))
  for (const user of [ann, tom]) assertOk(await launch(user, 'dev'))
  for (const { id } of [two, one]) assertOk(await act('block', id))
  assertOk(await boss.call('DELETE', `/api/admin/groups/${two.id}`))
  assertRefused(await launch(ann, 'dev'), 403, ['blocked_at'])
  assertOk(await launch(ann, 'prod'))
  const { id } = await recordOf(ann, 'dev')
  assertOk(await boss.call('POST', `/api/admin/containers/${id}/unblock`))
  assertOk(await launch(ann, 'dev'))
  assertOk(await act('unblock', one.id))
})

// With the owner's block as the only source, the unblock of the owner released what an administrator had blocked by itself.
test('what an administrator blocks by itself while its owner is blocked stays blocked after the owner', async () => {
  await launchAll()
  const block = async (what: 'block' | 'unblock', target: string) =>
    assertOk(await boss.call('POST', `/api/admin/${target}/${what}`))
  await block('block', `users/${ann.id}`)
  const { id, blocked_at } = await recordOf(ann, 'dev')
  await block('block', `containers/${id}`)
  await block('unblock', `users/${ann.id}`)
  const free = await signInAgain(berth, ann)
  assertRefused(await launch(free, 'dev'), 403, ['blocked_at'])
  assert.equal((await recordOf(ann, 'dev')).blocked_at, blocked_at)
  assertOk(await launch(free, 'prod'))
  await block('unblock', `containers/${id}`)
  assertOk(await launch(free, 'dev'))
})

test('each is in the audit log with who did it and which containers it was about', async () => {
  await launchAll()
  assertOk(await tom.call('POST', '/api/container/stop/dev'))
  const { id } = await group({ name: 'Logged', types: ['dev'] }, [ann], [tom])
  for (const what of ['stop', 'block', 'unblock'] as const) assertOk(await act(what, id))
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${id}`)).body
  const about = [{ user: ann.id, type: 'dev' }]
  const found = entries.map((each: { action: string; actor: { id: number }; detail: { containers: object } }) => [
    each.action,
    each.actor.id,
    each.detail.containers,
  ])
  const blocked = [...about, { user: tom.id, type: 'dev' }]
  assert.deepEqual(found.slice(0, 3), [
    ['group.unblock', tom.id, blocked],
    ['group.block', tom.id, blocked],
    ['group.stop', tom.id, about],
  ])
})
