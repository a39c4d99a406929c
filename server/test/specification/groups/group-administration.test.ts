import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { startGroupBerth } from '#test/support/group-berth.ts'

const { berth, boss, signUp, group, launch } = await startGroupBerth({ after })
const ann = await signUp('ann@x.org')
const create = (body: object) => boss.call('POST', '/api/admin/groups', body)
const change = (id: number, body: object) => boss.call('PATCH', `/api/admin/groups/${id}`, body)
const noLimits = { running: null, memory: null, cpus: null, gpus: null, disk: null }

test('a group has what it was made with, and what was left out is empty', async () => {
  const made = await create({ name: '  Biology 9c ' })
  assertOk(made)
  const { id } = made.body.group
  const biology = {
    id,
    name: 'Biology 9c',
    description: '',
    source: 'local',
    types: null,
    limits: noLimits,
    expires_at: null,
    member_count: 0,
    folder: null,
  }
  assert.deepEqual(made.body, { group: biology })
  const whole = {
    name: 'Whole',
    description: 'All of it',
    types: ['dev', 'prod', 'dev'],
    limits: { running: 2, memory: 1_000_000, cpus: 1.5, gpus: 3, disk: 5 },
    expires_at: '2040-01-02T03:04:05.000Z',
  }
  const { body } = await create(whole)
  assert.deepEqual(body.group, {
    ...whole,
    types: ['dev', 'prod'],
    id: id + 1,
    source: 'local',
    member_count: 0,
    folder: null,
  })
  assert.deepEqual((await boss.call('GET', `/api/admin/groups/${id + 1}`)).body, body)
})

test('a change leaves alone what it does not name, single limits included', async () => {
  const { id } = await group({ name: 'Changed', description: 'x', limits: { running: 2, cpus: 1 }, types: ['dev'] })
  const changed = await change(id, { limits: { running: null, disk: 7 }, types: null, expires_at: null })
  assertOk(changed)
  assert.deepEqual(changed.body.group.limits, { ...noLimits, cpus: 1, disk: 7 })
  assert.deepEqual([changed.body.group.description, changed.body.group.types], ['x', null])
  assert.equal((await change(id, { name: 'Changed too' })).body.group.name, 'Changed too')
  assertOk(await change(id, {}))
})

test('what is no field of a group is ignored: no request sets its source, its number or that of its members', async () => {
  const more = { id: 999, source: 'school', member_count: 7, createdAt: 0, limits: { running: 1, other: 5 } }
  const { id } = await group({ name: 'Fields', ...more })
  const { body } = await change(id, { ...more, description: 'y' })
  assert.deepEqual([body.group.id, body.group.source, body.group.member_count], [id, 'local', 0])
  assert.deepEqual(body.group.limits, { ...noLimits, running: 1 })
  assert.deepEqual((await boss.call('GET', `/api/admin/groups/${id}`)).body, body)
})

test('a name is 1 to 100 characters and unique: 400 and 409 with words', async () => {
  await group({ name: 'Taken' })
  const { id } = await group({ name: 'Other' })
  assertRefused(await create({ name: 'Taken' }), 409)
  assertRefused(await change(id, { name: 'Taken' }), 409)
  assertOk(await change(id, { name: 'Other' }))
  assertOk(await create({ name: 'ü'.repeat(100) }))
  for (const name of ['', '   ', 'x'.repeat(101), 'a\nb', 'a\u202egpj', '\u2067a', 'a\u2028b', 7, null])
    assertRefused(await create({ name }), 400)
  assertRefused(await create({}), 400)
  assertRefused(await change(id, { name: '' }), 400)
})

test('types have to be configured, limits to be numbers that are not negative, an end to be an instant', async () => {
  const wrong = [
    { types: ['nothing'] },
    { types: 'dev' },
    { limits: { running: -1 } },
    { limits: { running: 1.5 } },
    { limits: { memory: '2g' } },
    { limits: 3 },
    { expires_at: 'tomorrow' },
    { expires_at: 5 },
    { description: 'x'.repeat(1_001) },
  ]
  for (const more of wrong) assertRefused(await create({ name: 'Wrong', ...more }), 400)
  assert.match((await create({ name: 'Wrong', types: ['nothing'] })).body.error, /nothing.*dev, prod/)
})

// `Date` reads neither: the group got no end, or a change of it failed and left it without one.
test('an end without minutes in its offset, or in a leap second, is 400 with an example, and nothing changes', async () => {
  const { id } = await group({ name: 'Ends', expires_at: '2040-01-02T03:04:05.000Z' })
  for (const expires_at of ['2027-01-31T00:00:00+01', '2027-01-31T23:59:60Z']) {
    const refused = await create({ name: 'Never made', expires_at })
    assertRefused(refused, 400)
    assert.match(refused.body.error, /expires_at must be an instant such as 2027-01-31T00:00:00Z/)
    assertRefused(await change(id, { expires_at }), 400)
  }
  assert.deepEqual((await boss.call('GET', '/api/admin/groups?q=never%20made')).body.groups, [])
  assert.equal((await boss.call('GET', `/api/admin/groups/${id}`)).body.group.expires_at, '2040-01-02T03:04:05.000Z')
})

test('groups are listed page by page and by a part of their names', async () => {
  for (const name of ['List 1', 'List 2', 'List 3']) await group({ name })
  const first = await boss.call('GET', '/api/admin/groups?limit=2&q=LIST')
  assert.deepEqual(
    first.body.groups.map(({ name }: { name: string }) => name),
    ['List 1', 'List 2'],
  )
  const rest = await boss.call('GET', `/api/admin/groups?limit=2&q=list&cursor=${first.body.next_cursor}`)
  assert.deepEqual([rest.body.groups.length, rest.body.next_cursor], [1, null])
  assertRefused(await boss.call('GET', '/api/admin/groups?limit=0'), 400)
  assertRefused(await boss.call('GET', '/api/admin/groups?cursor=x'), 400)
})

test('a group that does not exist is 404, whatever is asked of it', async () => {
  for (const id of ['999999', 'x', '1e3', '-1']) {
    assertRefused(await boss.call('GET', `/api/admin/groups/${id}`), 404)
    assertRefused(await boss.call('PATCH', `/api/admin/groups/${id}`, {}), 404)
    assertRefused(await boss.call('DELETE', `/api/admin/groups/${id}`), 404)
    assertRefused(await boss.call('GET', `/api/groups/${id}/members`), 404)
  }
})

test('a deleted group is gone; its members, their containers and homes stay, and what it blocked is free', async () => {
  const { id } = await group({ name: 'Gone', types: ['dev'] }, [ann])
  assertOk(await launch(ann))
  assertOk(await boss.call('POST', `/api/groups/${id}/block`))
  assertRefused(await launch(ann), 403, ['blocked_at'])
  assertOk(await boss.call('DELETE', `/api/admin/groups/${id}`))
  assertRefused(await boss.call('GET', `/api/admin/groups/${id}`), 404)
  assert.deepEqual((await ann.call('GET', '/api/groups')).body, { groups: [] })
  assertOk(await launch(ann))
})

test('each change is in the audit log with who made it, and what it was before', async () => {
  const { id } = await group({ name: 'Audited' }, [ann])
  assertOk(await change(id, { name: 'Audited again', limits: { running: 3 } }))
  assertOk(await boss.call('DELETE', `/api/admin/groups/${id}`))
  const { body } = await boss.call('GET', `/api/admin/audit?target=group:${id}`)
  const entries = body.entries as { action: string; actor: { email: string }; detail: Record<string, unknown> }[]
  assert.deepEqual(
    entries.map(({ action }) => action),
    ['group.delete', 'group.change', 'group.add-member', 'group.create'],
  )
  assert.ok(entries.every(({ actor }) => actor.email === 'boss@x.org'))
  assert.deepEqual(entries[1]?.detail.before, { name: 'Audited', limits: noLimits })
  assert.deepEqual(entries[1]?.detail.after, { name: 'Audited again', limits: { ...noLimits, running: 3 } })
  assertOk(await boss.call('GET', '/api/admin/audit/verify'))
  assert.ok(berth.logs.length > 0 && berth.logs.every((line) => !line.includes('"level":50')))
})
