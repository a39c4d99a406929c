import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { openStream, type OpenStream } from '#test/support/event-stream.ts'
import { startGroupBerth, type Signed } from '#test/support/group-berth.ts'

/** What managers see of members while they work, and what they start. */
const { berth, engine, boss, signUp, group, launch } = await startGroupBerth(
  { after },
  { env: { LAUNCH_PARALLEL: '1' } },
)
const [ann, ben, eva] = [await signUp('ann@x.org'), await signUp('ben@x.org'), await signUp('eva@x.org')]
const tom = await signUp('tom@x.org')

interface SeenContainer {
  type: string
  status: string
  stage: string | null
  place: number | null
  message: string | null
  has_output: boolean
}
interface Seen {
  user_id: number
  is_here: boolean
  containers: SeenContainer[]
}
const watch = (id: number, by: Signed = tom) => openStream(berth, by.token, { path: `/api/groups/${id}/events` })
/** The latest state of a member that a page has received. */
const seenOf = (page: OpenStream, { id }: Signed) =>
  page.events
    .flatMap(({ name, data }) => (name === 'members' ? (data.members as Seen[]) : []))
    .findLast(({ user_id }) => user_id === id)
const untilSeen = (page: OpenStream, user: Signed, isMeant: (seen: Seen | undefined) => boolean | undefined) =>
  pollUntil(
    () => isMeant(seenOf(page, user)) === true,
    () => page.text(),
  )
const runs = ({ id }: Signed, type: string) => engine.running.includes(`${type} of ${id}`)
const auditOf = async (id: number) => {
  const { entries } = (await boss.call('GET', `/api/admin/audit?target=group:${id}`)).body
  return entries as { action: string; actor: { id: number }; detail: Record<string, unknown> }[]
}

test("a manager's page receives what members' containers of the group's types do, and nothing of other types or users", async (t) => {
  const { id } = await group({ name: 'Seen', types: ['lab'] }, [ann], [tom])
  const page = await watch(id)
  t.after(() => page.close())
  await untilSeen(page, ann, (seen) => seen?.containers.length === 0)
  assert.equal(page.events[0]?.name, 'snapshot')
  for (const type of ['prod', 'lab']) assertOk(await launch(ann, type))
  assertOk(await launch(eva, 'lab'))
  await untilSeen(page, ann, (seen) => seen?.containers[0]?.status === 'running')
  assertOk(await ann.call('POST', '/api/container/stop/lab'))
  await untilSeen(page, ann, (seen) => seen?.containers[0]?.status === 'asleep')
  assert.deepEqual(
    seenOf(page, ann)?.containers.map(({ type }) => type),
    ['lab'],
  )
  assert.equal(seenOf(page, eva), undefined)
  assert.ok(!page.text().includes('@'), 'the stream has no address of any user')
})

test('a member is here while a page of theirs is open, and away again when it is closed', async (t) => {
  const { id } = await group({ name: 'Here' }, [ben], [tom])
  const page = await watch(id)
  t.after(() => page.close())
  await untilSeen(page, ben, (seen) => seen?.is_here === false)
  const own = await openStream(berth, ben.token)
  await untilSeen(page, ben, (seen) => seen?.is_here)
  own.close()
  await untilSeen(page, ben, (seen) => seen?.is_here === false)
})

test('who waits in the launch queue has a position, until the launch begins', async (t) => {
  const waiting = [await signUp('fred@x.org'), await signUp('gil@x.org'), await signUp('hal@x.org')]
  const { id } = await group({ name: 'Queue', types: ['lab'] }, waiting, [tom])
  const gate = Promise.withResolvers<void>()
  engine.before = (call) => (call === 'create' ? gate.promise : undefined)
  t.after(() => (engine.before = () => undefined))
  const page = await watch(id)
  t.after(() => page.close())
  const launches = waiting.map((user) => launch(user, 'lab'))
  await pollUntil(
    () => waiting.filter((user) => seenOf(page, user)?.containers[0]?.stage === 'queued').length === 2,
    () => page.text(),
  )
  const places = waiting.map((user) => seenOf(page, user)?.containers[0]?.place ?? 0)
  assert.deepEqual(places.toSorted(), [0, 1, 2])
  gate.resolve()
  for (const each of await Promise.all(launches)) assertOk(each)
  for (const user of waiting) await untilSeen(page, user, (seen) => seen?.containers[0]?.status === 'running')
})

test('why a start failed is on the page, and its last lines for a manager who asks, which the audit log notes', async (t) => {
  const { id } = await group({ name: 'Fails', types: ['prod'] }, [ben], [tom])
  const page = await watch(id)
  t.after(() => page.close())
  engine.before = (call) => {
    if (call === 'create') throw new Error('no room on the disk')
  }
  t.after(() => (engine.before = () => undefined))
  const failure = `/api/groups/${id}/members/${ben.id}/failure/prod`
  assertRefused(await tom.call('GET', failure), 404)
  assertRefused(await launch(ben, 'prod'), 500, ['reason'])
  await untilSeen(page, ben, (seen) => seen?.containers[0]?.stage === 'failed')
  const read = await tom.call('GET', failure)
  assertOk(read)
  assert.equal(read.body.message, seenOf(page, ben)?.containers[0]?.message)
  assert.deepEqual(read.body.last_lines, [])
  const [entry] = await auditOf(id)
  assert.deepEqual(
    [entry?.action, entry?.actor.id, entry?.detail.user, entry?.detail.type],
    ['group.read-failure', tom.id, ben.id, 'prod'],
  )
  assertRefused(await tom.call('GET', `/api/groups/${id}/members/${ben.id}/failure/lab`), 404)
  assertRefused(await tom.call('GET', `/api/groups/${id}/members/${eva.id}/failure/prod`), 404)
})

test('a start for all starts what members do not have yet, not that of managers, and says how many were refused and why', async () => {
  const { id } = await group({ name: 'Starts', types: ['lab', 'prod'] }, [ann, ben, eva], [tom])
  for (const user of [ann, ben, eva]) await user.call('POST', '/api/container/stop/lab')
  assertOk(await launch(ann, 'lab'))
  assertOk(await boss.call('POST', `/api/admin/users/${eva.id}/block`))
  const begun = await tom.call('POST', `/api/groups/${id}/start`, { container_type: 'lab' })
  assertOk(begun)
  assert.equal(begun.body.message, 'The start of one container was requested.')
  await pollUntil(
    () => runs(ben, 'lab'),
    () => engine.running.join(),
  )
  assert.deepEqual([runs(ann, 'lab'), runs(eva, 'lab'), runs(tom, 'lab')], [true, false, false])
  assertOk(await boss.call('POST', `/api/admin/users/${eva.id}/unblock`))
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { limits: { running: 1 } }))
  const refused = await tom.call('POST', `/api/groups/${id}/start`, { container_type: 'prod' })
  assertOk(refused)
  assert.match(
    refused.body.message,
    /^The start of one container was requested\. Not started: 1\. The group Starts allows each member 1 running container/,
  )
  const { detail } = (await auditOf(id)).find(({ action }) => action === 'group.start') ?? {}
  const containers = detail?.containers as { type: string }[]
  assert.ok(containers.length > 0 && containers.every(({ type }) => type === 'prod'))
  assertRefused(await tom.call('POST', `/api/groups/${id}/start`, { container_type: 'dev' }), 400)
})

test('a restart replaces the container of one member, and of no type or user beside the group', async () => {
  const { id } = await group({ name: 'Restarts', types: ['dev'] }, [ann], [tom])
  assertOk(await launch(ann, 'dev'))
  const idOf = () =>
    [...engine.made.values()].find(({ spec: { owner } }) => owner.userId === ann.id && owner.type === 'dev')?.id
  const before = idOf()
  const restart = (user: Signed, type: string) =>
    tom.call('POST', `/api/groups/${id}/members/${user.id}/restart/${type}`)
  assertOk(await restart(ann, 'dev'))
  await pollUntil(
    () => idOf() !== before && runs(ann, 'dev'),
    () => engine.done.join(),
  )
  assertRefused(await restart(ann, 'lab'), 400)
  assertRefused(await restart(eva, 'dev'), 404)
  assertOk(await boss.call('POST', `/api/admin/users/${ann.id}/block`))
  assertRefused(await restart(ann, 'dev'), 409)
  assertOk(await boss.call('POST', `/api/admin/users/${ann.id}/unblock`))
})

test('members who join and leave change an open page, and a manager who is removed loses it', async (t) => {
  const { id } = await group({ name: 'Changes' }, [ann], [tom])
  const page = await watch(id)
  t.after(() => page.close())
  await untilSeen(page, ann, (seen) => seen !== undefined)
  const { code } = (await tom.call('POST', `/api/groups/${id}/join-code`)).body
  assertOk(await eva.call('POST', '/api/groups/join', { code }))
  await untilSeen(page, eva, (seen) => seen !== undefined)
  assert.ok(page.events.some(({ name }) => name === 'changed'))
  assertOk(await boss.call('DELETE', `/api/groups/${id}/members/${tom.id}`))
  await page.ended
  const again = await watch(id)
  assert.equal(again.status, 403)
})

test('a manager ends a group: what runs stops, nothing starts, and an administrator sets another end', async () => {
  const fay = await signUp('fay@x.org')
  const { id } = await group({ name: 'Ends', types: ['dev'] }, [fay], [tom])
  assertOk(await launch(fay, 'dev'))
  assertOk(await tom.call('POST', `/api/groups/${id}/end`))
  await pollUntil(
    () => !runs(fay, 'dev'),
    () => engine.running.join(),
  )
  assertRefused(await launch(fay, 'dev'), 403)
  assertRefused(await tom.call('POST', `/api/groups/${id}/start`, { container_type: 'dev' }), 403)
  assertRefused(await tom.call('POST', `/api/groups/${id}/members/${fay.id}/restart/dev`), 403)
  assertOk(await boss.call('PATCH', `/api/admin/groups/${id}`, { expires_at: null }))
  assertOk(await launch(fay, 'dev'))
})
