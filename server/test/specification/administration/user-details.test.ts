import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '../../support/api-calls.ts'
import { startGroupBerth, takeOver } from '../../support/group-berth.ts'

/** What the sheet of a user shows: one answer with containers, groups and sessions. */
const { berth, boss, signUp, group, launch } = await startGroupBerth({ after })
const ann = await signUp('ann@x.org')
const ben = await signUp('ben@x.org')
const physics = await group({ name: 'physics' }, [ann])
const chemistry = await group({ name: 'chemistry' }, [], [ann])
assertOk(await launch(ann))
assertOk(await launch(ben))

const details = (id: unknown, who = boss) => who.call('GET', `/api/admin/users/${String(id)}`)

test('an administrator reads a user with containers, groups with the role in each, and sessions', async () => {
  const reply = await details(ann.id)
  assertOk(reply)
  const { user, containers, groups, sessions } = reply.body
  const { body } = await boss.call('GET', '/api/admin/users?q=ann@x.org')
  assert.deepEqual(user, body.users[0])
  assert.deepEqual(
    containers.map((each: Record<string, unknown>) => [each.email, each.container_type, each.status]),
    [['ann@x.org', 'dev', 'running']],
  )
  assert.deepEqual(groups, [
    { id: chemistry.id, name: 'chemistry', role: 'manager' },
    { id: physics.id, name: 'physics', role: 'member' },
  ])
  assert.equal(sessions.length, 1)
  assert.deepEqual(Object.keys(sessions[0]).sort(), ['browser', 'created_at', 'last_used', 'taken_over_by'])
})

test('a takeover is among the sessions while it lasts', async () => {
  const acting = await takeOver(berth, boss, ben)
  const by = async () =>
    (await details(ben.id)).body.sessions.map((each: { taken_over_by: string | null }) => each.taken_over_by)
  assert.deepEqual(await by(), ['boss@x.org', null])
  assertOk(await acting.call('POST', '/api/auth/logout'))
  assert.deepEqual(await by(), [null])
})

test('others are refused, and an unknown number is 404', async () => {
  assertRefused(await details(ann.id, ann), 403)
  for (const id of [999_999, 'ann', '1e3', '-1']) assertRefused(await details(id), 404)
  const { body } = await boss.call('GET', '/api/admin/users/count')
  assert.equal(typeof body.count, 'number')
})
