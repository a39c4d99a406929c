import assert from 'node:assert/strict'
import { copyFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { homeVolume } from '#/containers/container-name.ts'
import { keptHomesTask } from '#/containers/reconcile/removals-task.ts'
import { keepHomes } from '#/store/removals.ts'
import { assertOk, deleteContainer, deleteUser, onEngine, recordOf, until } from '../support/api-calls.ts'
import { startBerth, type Person } from '../support/berth.ts'
import { askEngine, testImage } from '../support/engine/engine.ts'
import { homesOf, markedTemplates, markOf } from '../support/engine/homes.ts'
import { onlyLong } from '#test/support/extent.ts'

/** Homes outlive people for a while, and stay theirs whatever happens to the store. */

const env = { CONTAINER_TEMPLATES: await markedTemplates() }
const berth = await startBerth({ after }, { env })
const admin = await berth.administrator()
const keptHomes = keptHomesTask({ ...berth, isSettled: () => true })
const day = 86_400_000
const afterDays = (days: number) => keptHomes.run(new Date(Date.now() + days * day))
const keptOf = (userId: number) =>
  berth.database.db.selectFrom('kept_homes').selectAll().where('user_id', '=', userId).execute()

test('homes of a deleted user are kept for 30 days unless told otherwise, and removed then', async () => {
  const ann = await berth.signUp('ann@x.org')
  const homes = await homesOf(berth, ann.id)
  assertOk(await deleteUser(admin, ann.id))
  await afterDays(29.9)
  assert.deepEqual(await homesOf(berth, ann.id), homes)
  assert.deepEqual(await afterDays(30.1), { removed: 1 })
  assert.deepEqual(await homesOf(berth, ann.id), [])
  assert.deepEqual(await keptOf(ann.id), [])
})

test(
  'homes are removed by themselves once KEEP_HOMES is over, also when Berth was away meanwhile',
  onlyLong,
  async (t) => {
    const first = await startBerth(t, { env: { ...env, KEEP_HOMES: '1' } })
    const boss = await first.signUp('boss@x.org')
    const ben = await first.signUp('ben@x.org')
    assertOk(await deleteUser(boss, ben.id))
    await first.close()
    await sleep(1_000)
    const { dataDir, installation } = first
    const second = await startBerth(t, { env, dataDir, installation, pace: { overdue: 0 } })
    await until(async () => (await homesOf(second, ben.id)).length === 0)
    assert.equal((await homesOf(second, boss.id)).length, 1)
  },
)

test('a home of a type whose container was deleted before its owner goes with the others', onlyLong, async () => {
  const cat = await berth.signUp('cat@x.org')
  assertOk(await deleteContainer(admin, (await recordOf(admin, cat.id)).id))
  assertOk(await deleteUser(admin, cat.id, '?purge=true'))
  assert.deepEqual(await homesOf(berth, cat.id), [])
})

test('a home that is in use is left alone until it is not', async (t) => {
  const dan = await berth.signUp('dan@x.org')
  const [home = ''] = await homesOf(berth, dan.id)
  const body = { Image: await testImage(), HostConfig: { Binds: [`${home}:/rescue`] } }
  const { Id } = await askEngine<{ Id: string }>('POST', '/containers/create', { body })
  const putAway = () => askEngine('DELETE', `/containers/${Id}`).catch(() => undefined)
  t.after(putAway)
  assertOk(await deleteUser(admin, dan.id))
  assert.deepEqual(await afterDays(31), { removed: 0 })
  assert.deepEqual(await homesOf(berth, dan.id), [home])
  await putAway()
  await afterDays(32)
  assert.deepEqual(await homesOf(berth, dan.id), [])
})

test('a volume with the name of a home but another owner is not touched', async (t) => {
  const eve = await berth.signUp('eve@x.org')
  const Name = homeVolume(berth.installation, eve.id, eve.slug, 'prod')
  await askEngine('POST', '/volumes/create', { body: { Name } })
  t.after(async () => void (await askEngine('DELETE', `/volumes/${Name}`)))
  assertOk(await deleteUser(admin, eve.id, '?purge=true'))
  assert.deepEqual(await homesOf(berth, eve.id), [])
  await askEngine('GET', `/volumes/${Name}`)
})

test('a home whose owner is there again is not removed, and not considered any more', async () => {
  const fay = await berth.signUp('fay@x.org')
  const [volume = ''] = await homesOf(berth, fay.id)
  await keepHomes(berth.database.db, [{ volume, userId: fay.id, slug: fay.slug, type: 'dev' }], new Date())
  await afterDays(1)
  assert.deepEqual(await homesOf(berth, fay.id), [volume])
  assert.deepEqual(await keptOf(fay.id), [])
})

test('after an older store was restored, the next person of the same id and name gets nothing of the one before', async (t) => {
  const before = await startBerth(t, { env })
  const boss = await before.administrator()
  const shared = { env, dataDir: before.dataDir, installation: before.installation }
  await before.close()
  const [file, backup] = [path.join(before.dataDir, 'berth.sqlite'), path.join(before.dataDir, 'backup')]
  await copyFile(file, backup)
  const lost = await startBerth(t, shared)
  const ann = await lost.signUp('ann@x.org')
  const [mark, [container], homes] = [await markOf(ann), await onEngine(lost, ann.id), await homesOf(lost, ann.id)]
  await lost.close()
  for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true })
  await copyFile(backup, file)

  const restored = await startBerth(t, shared)
  const other = await restored.signUp('ann@other.org')
  assert.equal(other.id, ann.id, 'the id is given again')
  assert.match(other.slug, /^ann[a-z0-9]{4}$/)
  assert.notEqual(other.auth.user.container_id, container)
  assert.notEqual(await markOf(other), mark)
  const { status } = await other.call('GET', '/ann-dev/home.txt')
  assert.ok(status === 403 || status === 404, `${status}`)
  const asBoss: Person = { ...boss, call: (method, target) => restored.call(method, target, { token: boss.token }) }
  assertOk(await deleteContainer(asBoss, (await recordOf(asBoss, other.id)).id))
  assert.deepEqual(await onEngine(restored, ann.id), [container])
  await restored.runtime.remove(container ?? '')
  assertOk(await deleteUser(asBoss, other.id, '?purge=true'))
  assert.deepEqual(await homesOf(restored, ann.id), homes)
})
